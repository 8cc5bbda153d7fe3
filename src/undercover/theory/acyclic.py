"""Whether sets of columns hang together without a cycle: Graham's reduction (Beeri, Fagin, Maier & Yannakakis 1983)."""

from __future__ import annotations

from collections.abc import Sequence


def is_acyclic(edges: Sequence[set[str]]) -> bool:
    """Whether tables with these columns form an acyclic scheme.

    Columns that only one table has are removed, and tables whose columns another one has, for as long as there are any.

    >>> is_acyclic([{"a", "b"}, {"b", "c"}]), is_acyclic([{"a", "b"}, {"b", "c"}, {"c", "a"}])
    (True, False)
    >>> is_acyclic([{"a", "b"}, {"b", "c"}, {"c", "a"}, {"a", "b", "c"}])
    True
    """
    left = [set(edge) for edge in edges]
    while left:
        before = sum(map(len, left)), len(left)
        for edge in left:
            edge -= {name for name in edge if sum(name in other for other in left) == 1}
        for number in range(len(left) - 1, -1, -1):
            if any(left[number] <= other for place, other in enumerate(left) if place != number) or not left[number]:
                del left[number]
        if (sum(map(len, left)), len(left)) == before:
            return False
    return True
