"""Every guarantee from its definition, with dictionaries and fractions; slow, short, and sharing no code with ours."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

Row = tuple[object, ...]


def classes(rows: list[Row], *, star: bool = True) -> list[list[object]]:
    """The sensitive values (last cell) of each class (the other cells)."""
    found: dict[Row, list[object]] = {}
    for row in rows:
        if star and all(cell == "*" for cell in row[:-1]):
            continue
        found.setdefault(row[:-1], []).append(row[-1])
    return list(found.values())


def shares(values: list[object]) -> dict[object, Fraction]:
    return {value: Fraction(count, len(values)) for value, count in Counter(values).items()}


def k(rows: list[Row]) -> int:
    return min(len(values) for values in classes(rows))


def frequency_l(rows: list[Row]) -> Fraction:
    return min(1 / max(shares(values).values()) for values in classes(rows))


def distinct_l(rows: list[Row]) -> int:
    return min(len(set(values)) for values in classes(rows))


def entropy_l(rows: list[Row]) -> float:
    return min(math.exp(-sum(float(p) * math.log(p) for p in shares(values).values())) for values in classes(rows))


def recursive_holds(rows: list[Row], c: Fraction, l: int) -> bool:  # noqa: E741
    for values in classes(rows):
        counts = sorted(Counter(values).values(), reverse=True)
        if not counts[0] <= c * sum(counts[l - 1 :]):
            return False
    return True


def overall(rows: list[Row]) -> dict[object, Fraction]:
    return shares([row[-1] for row in rows])


def equal_t(rows: list[Row]) -> Fraction:
    q = overall(rows)
    return max(sum(abs(shares(v).get(s, Fraction(0)) - q[s]) for s in q) / 2 for v in classes(rows))


def ordered_t(rows: list[Row], order: list[object]) -> Fraction:
    q = overall(rows)
    present = [value for value in order if value in q]
    worst = Fraction(0)
    for values in classes(rows):
        p, running, total = shares(values), Fraction(0), Fraction(0)
        for value in present:
            running += p.get(value, Fraction(0)) - q[value]
            total += abs(running)
        worst = max(worst, total / max(len(present) - 1, 1))
    return worst


def hierarchical_t(rows: list[Row], tree: list[tuple[str, ...]]) -> Fraction:
    """cost(N) = height(N)/H · min(pos_extra, neg_extra), summed over the inner nodes, as printed."""
    q = overall(rows)
    height = len(tree[0]) - 1
    worst = Fraction(0)
    for values in classes(rows):
        p, total = shares(values), Fraction(0)
        for level in range(1, height + 1):
            for node in {row[level] for row in tree}:
                extras: dict[str, Fraction] = {}
                for row in tree:
                    if row[level] == node:
                        extra = p.get(row[0], Fraction(0)) - q.get(row[0], Fraction(0))
                        extras[row[level - 1]] = extras.get(row[level - 1], Fraction(0)) + extra
                positive = sum((e for e in extras.values() if e > 0), Fraction(0))
                negative = sum((-e for e in extras.values() if e < 0), Fraction(0))
                total += Fraction(level, height) * min(positive, negative)
        worst = max(worst, total)
    return worst


def delta(rows: list[Row]) -> float:
    q = overall(rows)
    worst = 0.0
    for values in classes(rows):
        p = shares(values)
        for value in q:
            worst = max(worst, abs(math.log(p[value] / q[value])) if value in p else math.inf)
    return worst


def beta(rows: list[Row]) -> Fraction:
    q = overall(rows)
    gains = [(p - q[s]) / q[s] for values in classes(rows) for s, p in shares(values).items() if p > q[s]]
    return max(gains, default=Fraction(0))


def enhanced_holds(rows: list[Row], limit: Fraction) -> bool:
    q = overall(rows)
    return all(
        float((p - q[s]) / q[s]) <= min(float(limit), -math.log(q[s])) + 1e-12
        for values in classes(rows)
        for s, p in shares(values).items()
        if p > q[s]
    )
