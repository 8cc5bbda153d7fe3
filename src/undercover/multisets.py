"""The different orders of items that may repeat."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any


def distinct_orders(items: Iterable[Any]) -> Iterator[tuple[Any, ...]]:
    """Every order of ``items``, each once, in lexicographic order.

    >>> ["".join(order) for order in distinct_orders("ABA")]
    ['AAB', 'ABA', 'BAA']
    """
    left = Counter(items)
    names = sorted(left)

    def orders(length: int) -> Iterator[tuple[Any, ...]]:
        if not length:
            yield ()
            return
        for name in names:
            if left[name]:
                left[name] -= 1
                for rest in orders(length - 1):
                    yield (name, *rest)
                left[name] += 1

    yield from orders(left.total())
