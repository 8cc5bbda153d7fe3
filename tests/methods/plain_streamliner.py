"""Privacy Streamliner as the tables of the paper and the method page read, row by row, without arrays."""

from collections.abc import Sequence


def rda_group_count(counts: Sequence[int], l: int) -> int:  # noqa: E741
    """How many groups Table 6 makes of these colour counts, by plain search at every step."""
    left = dict(enumerate(counts))
    groups = 0
    while sum(count > 0 for count in left.values()) >= l:
        leader = max(left, key=lambda c: left[c])
        while left[leader] and sum(count > 0 for count in left.values()) >= l:
            others = sorted((c for c in left if c != leader), key=lambda c: -left[c])[: l - 1]
            for colour in (leader, *others):
                left[colour] -= 1
            groups += 1
    return groups


def gda_groups(colours: Sequence[int], weighted: Sequence[int], l: int) -> list[set[int]]:  # noqa: E741
    """Table 7 with the repair of the method page, by plain search at every step."""
    n = len(colours)
    rows = {c: sorted((r for r in range(n) if colours[r] == c), key=lambda r: (weighted[r], r)) for c in set(colours)}
    k, slack = n // l, n - l * (n // l)
    groups: list[set[int]] = []
    leader = None
    while k > 0:
        if leader is None or not rows[leader]:
            leader = min(rows, key=lambda c: (-len(rows[c]), c))
        critical = {c for c, left in rows.items() if len(left) >= k}
        x = rows[leader][0]

        def distance(c: int, x: int = x) -> int:
            return abs(weighted[rows[c][0]] - weighted[x])

        must = len(critical) - slack - (leader in critical)
        chosen = [leader, *sorted(critical - {leader}, key=distance)[: max(0, must)]]
        rest = sorted((c for c, left in rows.items() if left and c not in chosen), key=distance)
        chosen += rest[: l - len(chosen)]
        slack -= len(critical - set(chosen))
        groups.append({rows[c].pop(0) for c in chosen})
        k -= 1
    for c in sorted(rows):
        for row in rows[c]:
            compatible = [g for g in groups if all(colours[other] != c for other in g)]
            min(compatible, key=lambda g: sum(abs(weighted[o] - weighted[row]) for o in g) / len(g)).add(row)
    return groups
