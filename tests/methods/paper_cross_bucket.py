"""The algorithms of the cross-bucket paper as they are printed, faults included.

Li, Liu, Han & Zhang, Section 3, Algorithms 1 to 5. They are here to be caught: see ``test_cross_bucket_paper.py``.
``never_the_same`` mends the one fault that keeps Algorithm 3 from ending.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from undercover.model.form import Buckets
from undercover.model.release import PublishedColumn, PublishedTable, Release

Row = tuple[tuple[int, ...], str]  # quasi-identifiers and sensitive value


@dataclass(frozen=True)
class Dealt:
    """Groups and buckets of rows, by position in the table."""

    groups: list[list[int]]
    buckets: list[list[int]]


def cross_bucket(table: Sequence[Row], k: int, l: int, *, never_the_same: bool) -> Dealt:  # noqa: E741
    """Algorithm 1."""
    left = list(range(len(table)))
    diversity_num = -(-l // k) * k
    groups, buckets = [], []
    while left:
        sensitive_set, loops = cal_sen_set(Counter(table[row][1] for row in left), k, l, diversity_num)
        for _ in range(loops):
            chosen = pick_tuples(table, left, sensitive_set, never_the_same)
            groups += generalize_tuples(chosen, k)
            buckets += partition_tuples(chosen, k)
            left = [row for row in left if row not in chosen]
    return Dealt(groups, buckets)


def cal_sen_set(counts: Counter[str], k: int, l: int, diversity_num: int) -> tuple[list[str], int]:  # noqa: E741
    """Algorithm 2."""
    domain = sorted(counts, key=lambda value: (-counts[value], value))
    if len(domain) < 2 * diversity_num:
        return domain, counts[domain[-1]]
    beta = diversity_num
    alpha = calculate_alpha([counts[value] for value in domain], beta, diversity_num)
    while alpha < 1:
        beta += k
        if len(domain) - beta < 2 * l:
            return domain, counts[domain[-1]]
        alpha = calculate_alpha([counts[value] for value in domain], beta, diversity_num)
    return domain[:beta], alpha


def calculate_alpha(counts: list[int], beta: int, m: int) -> int:
    """The assignment step of m-invariance: as often as what is left stays m-eligible."""
    alpha, rows = counts[beta - 1], sum(counts)
    if beta > m:
        alpha = min(alpha, (rows - m * counts[0]) // (beta - m))
    if beta < len(counts):
        alpha = min(alpha, (rows - m * counts[beta]) // beta)
    return alpha


def pick_tuples(table: Sequence[Row], rows: list[int], wanted: list[str], never_the_same: bool) -> list[int]:
    """Algorithm 3: the widest attribute first, cut at its median."""
    attributes = list(range(len(table[0][0])))
    while attributes:
        values = {j: [table[row][0][j] for row in rows] for j in attributes}
        whole = {j: max(row[0][j] for row in table) - min(row[0][j] for row in table) or 1 for j in attributes}
        attribute = max(attributes, key=lambda j: ((max(values[j]) - min(values[j])) / whole[j], -j))
        median = sorted(values[attribute])[(len(rows) - 1) // 2]
        left = [row for row in rows if table[row][0][attribute] <= median]
        right = [row for row in rows if table[row][0][attribute] > median]
        if _holds(table, left, wanted) and not (never_the_same and left == rows):
            return pick_tuples(table, left, wanted, never_the_same)
        if _holds(table, right, wanted):
            return pick_tuples(table, right, wanted, never_the_same)
        attributes.remove(attribute)
    return [next(row for row in rows if table[row][1] == value) for value in wanted]


def generalize_tuples(chosen: list[int], k: int) -> list[list[int]]:
    """Algorithm 4."""
    groups = max(1, len(chosen) // k)
    size, larger = divmod(len(chosen), groups)
    sizes = [size + 1] * larger + [size] * (groups - larger)
    return [chosen[sum(sizes[:i]) : sum(sizes[: i + 1])] for i in range(groups)]


def partition_tuples(chosen: list[int], k: int) -> list[list[int]]:
    """Algorithm 5: always k buckets."""
    return [bucket for bucket in (chosen[i::k] for i in range(k)) if bucket]


def published(table: Sequence[Row], dealt: Dealt) -> Release:
    """What would be released: the box of every group and the bucket of every row, and the values of every bucket."""
    names = [f"q{j}" for j in range(len(table[0][0]))]
    bucket_of = {row: number for number, bucket in enumerate(dealt.buckets) for row in bucket}
    qit: dict[str, list[object]] = {name: [] for name in (*names, "bucket")}
    for group in dealt.groups:
        for j, name in enumerate(names):
            low, high = (end(table[row][0][j] for row in group) for end in (min, max))
            qit[name] += [str(low) if low == high else f"[{low}, {high}]"] * len(group)
        qit["bucket"] += [bucket_of[row] for row in group]
    pairs = Counter((bucket_of[row], table[row][1]) for row in bucket_of)
    sat = {
        "bucket": [bucket for bucket, _ in pairs],
        "s": [value for _, value in pairs],
        "count": list(pairs.values()),
    }
    quasi = [PublishedColumn(name, "quasi-identifier", "interval") for name in names]
    bucket, count = (PublishedColumn(name, "structure", "value") for name in ("bucket", "count"))
    tables = (
        PublishedTable("qit", (*quasi, bucket), pa.table(qit)),
        PublishedTable("sat", (bucket, PublishedColumn("s", "sensitive", "value"), count), pa.table(sat)),
    )
    return Release("cross-bucket", {}, tables, False, form=Buckets())


def _holds(table: Sequence[Row], rows: list[int], wanted: list[str]) -> bool:
    return set(wanted) <= {table[row][1] for row in rows}
