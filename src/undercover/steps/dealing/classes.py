"""Class dealing: near rows of l different sensitive values together, in groups that do not tell whose value is whose.

Our own. From the counts of the sensitive values alone, which everybody sees, a *layout* gives every value places in l
classes of n // l slots each (and further ones of what is left over); classes are cut into *zones* of slots such that
a value that lies in two classes lies in different zones. Then, in secret, rows take the places of their values at
random, in each zone the rows of all classes are halved alike, and in each small cell the rows of one class after the
other are assigned to groups; a group is one row of each class. Then the groups themselves are parted into other cells,
by their middles, and the classes are assigned anew, some times over.

Why it is safe: rename the classes of a zone. The table in which every row has the value of its new class, dealt to the
new places, has the same counts of values by class and zone, so it is dealt with the same probability; cuts and
assignments treat classes alike, so it ends in the same groups. All C! renamings are equally likely to whoever sees the
groups and the values of each, so each value of a group of C rows is a given row's with probability 1/C exactly.

One renaming holds for a whole zone: somebody who knows values of people in other groups may learn from them about this
one. `wrap` (:mod:`undercover.steps.dealing.groups`) is safe from him and has no near rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise, permutations, product
from math import prod

import numpy as np
from numpy.typing import NDArray

from undercover.arrays import count
from undercover.model.groups import Groups
from undercover.model.protocols import Progress, no_progress
from undercover.model.run import Shuffle
from undercover.model.table import Table
from undercover.multisets import distinct_orders
from undercover.randomness import Randomness
from undercover.steps.blocks import every_order, halved, in_order, quasi_identifier_keys
from undercover.steps.dealing.groups import require_eligible
from undercover.steps.scales import Places, Scales, places_of, scales_of
from undercover.steps.shuffling import shuffle_within
from undercover.threads import parallel

_CELL = 320  # rows of a cell, which are compared two by two
_MOST_PASSES = 12
_WORK = 1_500_000  # rows times passes
_RIFFLE = 7


@dataclass(frozen=True)
class Layout:
    """Which value has which places: a function of counts alone, so everybody can work it out.

    Values stand one behind the other in ``order``; place p is slot ``p % slots`` of class ``p // slots``.
    """

    order: NDArray[np.int64]  # codes of the values that occur
    slots: int  # of every class but perhaps the last, which has what is left over
    segments: NDArray[np.int64]  # places inside which rows are dealt at random: of one class, or of one value in two
    zones: tuple[tuple[int, int, int], ...]  # first and last slot, classes

    @classmethod
    def of(cls, counts: NDArray[np.int64], l: int) -> Layout:
        """The layout for values that occur ``counts`` times each, none of them in more than 1/l of the rows."""
        n = int(counts.sum())
        slots = n // l
        classes, left = divmod(n, slots)  # l of them, or more where what is left over fills some
        order = _packed(counts, l)
        ends = np.cumsum(counts[order])
        starts = ends - counts[order]
        two = starts // slots != (ends - 1) // slots  # values that lie in two classes
        spans = sorted(zip((starts[two] % slots).tolist(), (ends[two] % slots).tolist(), strict=True))
        points = {0, slots, left}
        for head, tail in spans:  # the head lies in [head, slots), the tail in [0, tail): some point must part them
            if not any(tail <= point <= head for point in points - {0, slots}):
                points.add(head)
        cuts = {n, *range(0, n, slots)} - set(((starts[two] // slots + 1) * slots).tolist())
        segments = np.array(sorted(cuts | {*starts[two].tolist(), *ends[two].tolist()}), dtype=np.int64)
        zones = tuple((first, last, classes + (last <= left)) for first, last in pairwise(sorted(points)))
        return cls(order, slots, segments, zones)

    @property
    def cells(self) -> NDArray[np.int64]:
        """(n,) a number for the class and zone of every place, zone after zone."""
        place = np.arange(self.segments[-1])
        zone = np.searchsorted([last for _, last, _ in self.zones], place % self.slots, side="right")
        before = np.cumsum([0, *(classes for _, _, classes in self.zones)])
        return np.asarray(before[zone] + place // self.slots)


def _packed(counts: NDArray[np.int64], l: int) -> NDArray[np.int64]:
    """An order of the values in which few of them lie in two classes: each into the fullest class it fits into.

    What fits into none goes to the last class; where that is too small, values stand by their counts.
    """
    by_count = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
    free = [int(counts.sum()) // l] * l
    classes: list[list[NDArray[np.int64]]] = [[] for _ in range(l)]
    rest = []
    for alike in np.split(by_count, np.flatnonzero(np.diff(counts[by_count])) + 1):  # values that occur as often
        each = int(counts[alike[0]])
        for c in sorted((c for c in range(l) if free[c] >= each), key=lambda c: free[c]):
            taken, alike = np.split(alike, [free[c] // each])
            classes[c].append(taken)
            free[c] -= len(taken) * each
        rest.append(alike)
    return by_count if any(free) else np.concatenate([part for parts in (*classes, rest) for part in parts])


def class_groups(
    table: Table,
    sensitive: str,
    l: int,
    *,
    randomness: Randomness,
    threads: int = 1,
    progress: Progress = no_progress,
) -> Groups:
    """Groups of l rows (some of l + 1; of a tiny table more) of different sensitive values that lie near each other."""
    return deal_classes(table, sensitive, l, randomness=randomness, threads=threads, progress=progress)[0]


def deal_classes(
    table: Table,
    sensitive: str,
    l: int,
    *,
    randomness: Randomness,
    threads: int = 1,
    progress: Progress = no_progress,
) -> tuple[Groups, tuple[Shuffle, ...]]:
    """The same groups, and what was dealt in secret: classes and zones to rows, and an order to equal rows."""
    column = table[sensitive]
    counts = count(column.codes, column.domain.size)
    require_eligible(table, sensitive, counts, l)
    layout = Layout.of(counts, l)
    rank = np.argsort(in_order(table, randomness))
    by_value = _by_value(column.codes, layout)
    dealt = by_value.copy()
    shuffle_within(dealt, layout.segments, randomness, "places of rows")
    near = _Near(scales_of(table), places_of(table), threads)
    made = []
    for number, (first, last, classes) in enumerate(layout.zones):

        def within(share: float, first: int = first, last: int = last) -> None:
            progress("dealing classes", (first + share * (last - first)) / layout.slots)

        turns = np.arange(classes, dtype=np.int64)
        shuffle_within(turns, np.array([0, classes]), randomness, f"order of classes in zone {number}")
        made.append(near.groups(_zone(dealt, layout, first, last, classes, rank), turns, within))
    sizes = np.concatenate([np.full(rows.shape[1], len(rows), dtype=np.int64) for rows in made])
    order = np.concatenate([rows.T.ravel() for rows in made])
    groups = Groups.from_order(order, np.concatenate([[0], np.cumsum(sizes)]))
    return groups, _shuffles(table, layout, by_value, dealt, rank)


def _shuffles(
    table: Table, layout: Layout, by_value: NDArray[np.int64], dealt: NDArray[np.int64], rank: NDArray[np.int64]
) -> tuple[Shuffle, ...]:
    """What was dealt: the class and zone of every row of a segment, rows by value, and the order of equal rows."""
    cell = np.empty(len(dealt), dtype=np.int32)
    cell[dealt] = layout.cells
    segment = np.repeat(np.arange(len(layout.segments) - 1, dtype=np.int32), np.diff(layout.segments))
    equal = Shuffle("order of equal rows", rank.astype(np.int32), quasi_identifier_keys(table))
    return Shuffle("places of rows", cell[by_value], segment), equal


def class_outcomes(table: Table, sensitive: str, l: int) -> Iterator[tuple[Fraction, NDArray[np.int32]]]:
    """Every partition with its exact probability; for tiny tables."""
    column = table[sensitive]
    counts = count(column.codes, column.domain.size)
    require_eligible(table, sensitive, counts, l)
    layout, near = Layout.of(counts, l), _Near(scales_of(table), places_of(table), 1)
    by_value, cells = _by_value(column.codes, layout), layout.cells
    parts = [slice(start, end) for start, end in pairwise(layout.segments)]
    deals = [list(distinct_orders(cells[part].tolist())) for part in parts]  # a cell for each row of the segment
    ranks = [np.argsort(rows) for rows in every_order(table)]
    orders = [list(permutations(range(classes))) for _, _, classes in layout.zones]
    share = Fraction(1, len(ranks) * prod(map(len, deals)) * prod(map(len, orders)))
    joined = _joined(b"".join(part.tobytes() for part in (*near.scales, *near.places)))
    dealings: dict[tuple[tuple[int, bytes], ...], int] = {}  # how often the same rows come to lie in the same zones
    home = np.empty(table.n_rows, dtype=np.int64)
    for chosen in product(*deals):
        for part, dealt in zip(parts, chosen, strict=True):
            home[by_value[part]] = dealt
        for rank in ranks:
            rows, end, key = np.lexsort((rank, home)), 0, []
            for number, (first, last, classes) in enumerate(layout.zones):
                start, end = end, end + (last - first) * classes
                zone = (classes, rows[start:end].tobytes())
                key.append(zone)
                if zone not in joined:
                    lines = rows[start:end].reshape(classes, -1)
                    joined[zone] = [near.groups(lines, np.array(turns)) for turns in orders[number]]
            dealings[tuple(key)] = dealings.get(tuple(key), 0) + 1
    found: dict[tuple[int, ...], int] = {}
    for zones, times in dealings.items():
        for made in product(*(joined[zone] for zone in zones)):
            labels = _labels(made, table.n_rows)
            found[labels] = found.get(labels, 0) + times
    for labels, times in found.items():
        yield share * times, np.array(labels, dtype=np.int32)


@lru_cache(maxsize=1)
def _joined(quasi_identifiers: bytes) -> dict[tuple[int, bytes], list[NDArray[np.int64]]]:
    """What became of rows in so many classes, by the order they take turns in; values do not matter.

    Who lists the outcomes of every table of the same people, one after the other, meets the same rows over and over.
    """
    return {}


@dataclass(frozen=True)
class _Near:
    """How rows of all classes come to groups; nothing in it tells one class from another."""

    scales: Scales
    places: Places
    threads: int

    def groups(
        self, rows: NDArray[np.int64], turns: NDArray[np.int64], told: Callable[[float], None] | None = None
    ) -> NDArray[np.int64]:
        """(classes, slots) rows of which those at one slot are a group; classes take turns in the order ``turns``.

        ``told`` is called with the share of the passes that are done; there may be fewer of them.
        """
        from undercover.steps.dealing.class_kernels import typical_rows

        rows = rows.copy()
        classes, slots = rows.shape
        if slots == 1:
            return rows
        most = max(2, _CELL // classes)
        each = np.arange(slots + 1, dtype=np.int64)
        self._join(rows, halved(rows, each, most, self.scales, self.threads), turns, anew=True)
        passes = min(_MOST_PASSES, _WORK // len(self.places.at))
        for again in range(passes):
            if told is not None:
                told((again + 1) / (passes + 1))
            middles = self.scales._replace(bins=typical_rows(rows, self.scales))
            # Equal ones in another order and cells of another size every time, so that borders lie elsewhere.
            order = np.concatenate([each[first:slots:_RIFFLE] for first in range(_RIFFLE)])[None, :]
            starts = halved(order, each, max(2, most * (10 - again % 4) // 10), middles, self.threads)
            rows = np.ascontiguousarray(rows[:, order[0]])
            if not self._join(rows, starts, turns, anew=False):
                break
        return rows

    def _join(
        self, rows: NDArray[np.int64], starts: NDArray[np.int64], turns: NDArray[np.int64], *, anew: bool
    ) -> bool:
        """Assign the rows of every cell, on several threads."""
        from undercover.steps.dealing.class_kernels import join_cells

        def join(cells: NDArray[np.int64]) -> bool:
            return bool(join_cells(rows, cells, turns, anew, self.places))

        ends = np.append(starts, rows.shape[1])
        portions = 1 if self.threads == 1 else min(8 * self.threads, len(starts))
        edges = np.linspace(0, len(starts), portions + 1).astype(np.int64)
        parts = [ends[low : high + 1] for low, high in pairwise(edges)]
        return any(parallel(join, parts, self.threads, steps=rows.size * _CELL))


def _labels(made: tuple[NDArray[np.int64], ...], n_rows: int) -> tuple[int, ...]:
    """The group of every row, groups numbered as they first occur."""
    labels, count = np.empty(n_rows, dtype=np.int64), 0
    for rows in made:
        labels[rows] = count + np.arange(rows.shape[1])
        count += rows.shape[1]
    place: dict[int, int] = {}
    return tuple(place.setdefault(label, len(place)) for label in labels.tolist())


def _by_value(codes: NDArray[np.unsignedinteger], layout: Layout) -> NDArray[np.int64]:
    """The rows in the order of their values' places."""
    place = np.empty(int(layout.order.max()) + 1, dtype=np.int64)
    place[layout.order] = np.arange(len(layout.order))
    return np.argsort(place[codes], kind="stable")


def _zone(
    dealt: NDArray[np.int64], layout: Layout, first: int, last: int, classes: int, rank: NDArray[np.int64]
) -> NDArray[np.int64]:
    """(classes, slots) the rows of a zone, those of a class by rank, which knows no value."""
    rows = np.array([dealt[c * layout.slots + first : c * layout.slots + last] for c in range(classes)])
    return np.take_along_axis(rows, np.argsort(rank[rows], axis=1), axis=1)
