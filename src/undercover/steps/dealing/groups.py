"""Dealing: slots fixed by public counts, shuffled in secret within each sensitive value, taken by rows in turn.

l-eligibility: whether any partition of the table can be l-diverse at all (Machanavajjhala et al. 2006). Strata: rows
kept apart by quasi-identifiers, fixed before anybody looks at sensitive values.

The partitions of Privacy Streamliner, in which every group holds at least l rows, each of another sensitive value: Liu
& Wang, "Privacy Streamliner", Section 3; `wrap` and `guided` are our own. See
:mod:`undercover.methods.streamliner.method` for what each promises. `wrap`, `rda` and `guided` first fix, from public
counts alone, how many rows of which value meet in which group (the *slots* of a value), then shuffle the slots within
each value in secret, then let each row take the slot of its turn. All their randomness is that one shuffle
(:class:`Deal`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, permutations, product
from math import lcm, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercover.arrays import count, crossed, first_rows, look_up, narrowest, stretches
from undercover.errors import InternalError, ParameterError, UnreachableError, listed, unknown
from undercover.exact import exact
from undercover.model.groups import Groups
from undercover.model.run import Shuffle
from undercover.model.table import EncodedColumn, Table
from undercover.multisets import distinct_orders
from undercover.randomness import Randomness
from undercover.steps.shuffling import shuffle_within, spare_words

REDRAWS = 1_000
_MOST_CELLS = 1 << 28
_LARGEST_RANK = 1 << 53


@dataclass(frozen=True)
class Deal:
    """Slots to be shuffled within each segment, and what becomes of the rows then."""

    slots: NDArray[Any]
    offsets: NDArray[np.int64]
    assign: Callable[[NDArray[Any]], NDArray[np.int32]]  # slots -> group of every row
    count: int
    within: NDArray[np.integer] | None = None  # (n_rows,) the segment whose slots a row takes
    slot_of: Callable[[NDArray[np.int32]], NDArray[np.integer]] | None = None  # groups -> slots, where they differ
    turns: NDArray[np.integer] | None = None  # rows in the order in which they take slots; None: of the input

    def draw(self, randomness: Randomness, threads: int = 1) -> Groups:
        """Shuffle in secret and deal."""
        slots = self.slots.copy()
        shuffle_within(slots, self.offsets, randomness, "slots of one value", threads)
        return Groups(self.assign(slots), self.count)

    def shuffles(self, groups: Groups) -> tuple[Shuffle, ...]:
        """What was dealt: groups to the rows of a segment, as they were drawn, before anybody numbers them anew."""
        if self.within is None:
            return ()
        slots = groups.labels if self.slot_of is None else self.slot_of(groups.labels)
        if self.turns is None:
            return (Shuffle("slots of one value", slots, self.within),)
        return (Shuffle("slots of one value", look_up(slots, self.turns), look_up(self.within, self.turns)),)

    def outcomes(self) -> Iterator[tuple[Fraction, NDArray[np.int32]]]:
        """Every assignment with its probability; for tiny tables."""
        segments = [self.slots[start:end].tolist() for start, end in zip(self.offsets, self.offsets[1:], strict=False)]
        orders = [list(distinct_orders(segment)) for segment in segments]
        share = Fraction(1, prod(len(order) for order in orders))
        for chosen in product(*orders):
            slots = np.array([slot for segment in chosen for slot in segment], dtype=self.slots.dtype)
            yield share, self.assign(slots)


def numbering(buckets: Groups, dealt: Groups | None = None) -> tuple[Shuffle, ...]:
    """Numbers of buckets as something that was dealt: to buckets by their first rows, and as they were ``dealt``."""
    first = first_rows(buckets.labels, buckets.count)
    found = (Shuffle("numbers of buckets: as in the input", buckets.labels[np.sort(first)]),)
    if dealt is None:
        return found
    return *found, Shuffle("numbers of buckets: as dealt", buckets.labels[first_rows(dealt.labels, dealt.count)])


def sensitive_column(table: Table, method: str) -> str:
    """The one sensitive column of a table, for methods that protect exactly one."""
    if len(table.schema.sensitive) != 1:
        raise ParameterError(
            f"{method} protects exactly one sensitive column. Got {len(table.schema.sensitive)} instead."
        )
    return table.schema.sensitive[0]


def require_eligible(table: Table, sensitive: str, counts: NDArray[np.int64], l: float) -> None:
    """Raise where some value is more than 1/l of the rows: then no partition is l-diverse."""
    top = int(counts.argmax())
    if counts[top] * l > table.n_rows:
        best = table.n_rows // int(counts[top])
        raise UnreachableError(
            f"l={l:g} cannot be reached: the most frequent value of `{sensitive}` is {counts[top] / table.n_rows:.1%} "
            f"of the rows ({counts[top]:,} of {table.n_rows:,}); the largest feasible l is {best}.",
            best={"l": best},
        )


def strata_of(table: Table, names: Sequence[str]) -> tuple[NDArray[np.integer], Callable[[int], str]]:
    """The stratum of every row, numbered from 0 without gaps, and what each is called, without its values."""
    columns = [(name, *_stratum_codes(table, name)) for name in names]
    key: NDArray[np.integer] = np.zeros(table.n_rows, dtype=np.int8)
    size = 1
    for _, codes, labels in columns:
        key = crossed(key, size, codes, len(labels))
        size *= len(labels)
        if size > 4 * table.n_rows:  # number them anew before they outgrow the rows
            distinct, key = np.unique(key, return_inverse=True)
            size = len(distinct)
    present = count(key, size) > 0
    strata = look_up((np.cumsum(present) - 1).astype(np.int32), key)

    def named(stratum: int) -> str:
        return f"stratum {stratum + 1:,} by {', '.join(names)}" if names else "the whole table"

    return strata, named


def _stratum_codes(table: Table, name: str) -> tuple[NDArray[np.integer], Sequence[str]]:
    """A column, or a level of its hierarchy written ``column:level``, as codes and labels."""
    known = table.schema.quasi_identifiers
    if name in known:
        column = table[name]
        return column.codes, column.domain.labels
    base, _, level = name.rpartition(":")
    if base not in known:
        raise ParameterError(unknown("Stratum", name, known))
    return _level_codes(table[base], level)


def _level_codes(column: EncodedColumn, level: str) -> tuple[NDArray[np.integer], Sequence[str]]:
    hierarchy = column.settings.hierarchy
    if hierarchy is None:
        raise ParameterError(f"Column `{column.name}` has no hierarchy, so there is no level {level!r} of it.")
    if not level.isdigit() or int(level) >= hierarchy.n_levels:
        levels = listed(range(hierarchy.n_levels))
        raise ParameterError(f"Level {level!r} of `{column.name}` is not known. There are: {levels}.")
    names = [hierarchy.generalize(label, int(level)) for label in column.domain.labels[: len(column.domain.values)]]
    names += ["missing"] * column.domain.has_missing
    place = {label: position for position, label in enumerate(dict.fromkeys(names))}
    codes = np.array([place[label] for label in names], dtype=narrowest(len(place) - 1))
    return look_up(codes, column.codes), list(place)


def wrap(table: Table, sensitive: str, l: int) -> Deal:
    """Rows, value after value from the most frequent on, dealt round and round over n // l groups."""
    from undercover.steps.dealing.kernels import take_slots, wrap_slots

    column = table[sensitive]
    counts, offsets = _counts(column.codes, column.domain.size)
    colours = np.argsort(-counts, kind="stable")  # public: count descending, then label
    count = table.n_rows // l
    slots = wrap_slots(offsets, colours, count)
    return Deal(slots, offsets, lambda slots: take_slots(column.codes, offsets, slots), count, column.codes)


def rda(table: Table, sensitive: str, l: int, ranking: NDArray[np.int64]) -> Deal:
    """Table 6: a row of the most frequent value left, with one of each of the l - 1 next most frequent.

    Values are taken by their place in the ``ranking`` wherever they are equally frequent, never by their label.
    """
    from undercover.compiled.rows import recoded
    from undercover.steps.dealing.kernels import rda_slots, take_slots

    column = table[sensitive]
    place = np.empty(len(ranking), dtype=column.codes.dtype)
    place[ranking] = np.arange(len(ranking))
    codes = recoded(column.codes, place)
    _, offsets = _counts(codes, column.domain.size)
    slots, count = rda_slots(offsets, l)
    if len(slots) and slots.min() < 0:
        raise InternalError("RDA left a row without a group although the table is l-eligible.")
    return Deal(slots, offsets, lambda slots: take_slots(codes, offsets, slots), count, codes)


def rank_values(counts: NDArray[np.int64], randomness: Randomness) -> NDArray[np.int64]:
    """Values by frequency, the most frequent first; equally frequent ones in a secret uniform order.

    By label instead, values of one bucket would be neighbours: where all numbers differ, a bucket would tell each of
    them nearly.
    """
    order = np.arange(len(counts), dtype=np.int64)
    shuffle_within(order, np.array([0, len(counts)]), randomness, "values that are equally frequent")
    return np.asarray(order[np.argsort(-counts[order], kind="stable")])


def value_rankings(counts: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Every ranking that :func:`rank_values` may draw, all equally likely; for tiny tables.

    >>> [ranking.tolist() for ranking in value_rankings(np.array([1, 3, 0, 1]))]
    [[1, 0, 3, 2], [1, 3, 0, 2]]
    """
    first = np.argsort(-counts, kind="stable")
    ties = np.split(first, np.flatnonzero(np.diff(counts[first])) + 1)
    orders = [list(permutations(tie.tolist())) if counts[tie[0]] else [tuple(tie.tolist())] for tie in ties]
    return [np.array([value for tie in chosen for value in tie], dtype=np.int64) for chosen in product(*orders)]


def guided(
    table: Table,
    sensitive: str,
    l: int,
    strata: NDArray[np.integer],
    weighted: NDArray[np.int64],
    describe: Callable[[int], str],
) -> Deal:
    """`wrap` inside every stratum; within groups of the same values, rows are zipped in weighted-rank order.

    ``strata`` (n_rows,) are numbered from 0, a function of quasi-identifiers alone; ``weighted`` (n_rows,) is the
    weighted rank of each row; ``describe`` names a stratum, for the error.
    """
    from undercover.steps.dealing.kernels import bucket_slots, zip_in_order

    column = table[sensitive]
    n_strata, n_colours = int(strata.max()) + 1, column.domain.size
    if n_strata * n_colours > _MOST_CELLS:
        raise ParameterError(f"{n_strata:,} strata are too many to be l-eligible. Name fewer or coarser columns.")
    cells = crossed(strata, n_strata, column.codes, n_colours).astype(np.uint32)
    counts = count(cells, n_strata * n_colours).reshape(n_strata, n_colours)
    _require_eligible_strata(table, sensitive, counts, l, describe)
    slots, offsets, next_group, groups = bucket_slots(counts, np.argsort(-counts, axis=1, kind="stable"), l)
    order, first_groups = by_weighted_rank(weighted), np.unique(next_group)
    return Deal(
        slots,
        offsets,
        lambda slots: zip_in_order(order, cells, offsets, slots, next_group),
        groups,
        cells,
        lambda labels: np.searchsorted(first_groups, labels, side="right").astype(np.int32),
        order,
    )


def gda(table: Table, sensitive: str, l: int, weighted: NDArray[np.int64]) -> Deal:
    """Table 7: each group around the lowest row of the most frequent value left. Nothing in it is random."""
    from undercover.steps.dealing.kernels import gda_groups

    column = table[sensitive]
    _, offsets = _counts(column.codes, column.domain.size)
    labels, count = gda_groups(by_weighted_rank(weighted), column.codes, offsets, weighted, l)
    if labels.min() < 0:
        raise InternalError("GDA left a row without a group although the table is l-eligible.")
    return Deal(np.empty(0, np.int32), np.zeros(1, np.int64), lambda slots: labels, count)


def ria(table: Table, sensitive: str, l: int, randomness: Randomness) -> Groups:
    """Table 5: l - 1 random partners for every row; rows that share partners are merged.

    A value whose rows reach a dead end (fewer than l - 1 other values have unused rows) is drawn anew, at most
    ``REDRAWS`` times.
    """
    from undercover.compiled.shuffle import counting_order
    from undercover.steps.dealing.kernels import draw_partners, number_trees

    column = table[sensitive]
    rows, offsets = counting_order(column.codes, column.domain.size)
    pool = rows.copy()
    shuffle_within(rows, offsets, randomness, "who draws first")
    parent = np.arange(table.n_rows, dtype=np.int64)
    for colour in range(column.domain.size):
        draws = 2 * (l - 1) * int(offsets[colour + 1] - offsets[colour])
        for attempt in range(REDRAWS):
            purpose = f"partners of value {colour}/{attempt}"
            words = randomness.words(purpose, draws)
            spare = randomness.words(f"{purpose}/spare", spare_words(draws, table.n_rows))
            if draw_partners(colour, offsets, rows, pool, l, words, spare, parent) == 1:
                break
        else:
            raise UnreachableError(
                f"RIA found no {l - 1} partners of different values for every row with one of the values of "
                f"`{sensitive}` in {REDRAWS:,} draws. Use the algorithm `wrap`."
            )
    return Groups(*number_trees(parent))


def ria_outcomes(table: Table, sensitive: str, l: int) -> Iterator[tuple[Fraction, NDArray[np.int32]]]:
    """Every partition RIA can end in, with its probability; for tiny tables. Draws that end dead are drawn anew."""
    codes = table[sensitive].codes
    by_colour = [np.flatnonzero(codes == colour).tolist() for colour in range(table[sensitive].domain.size)]
    states, whole = {tuple(range(table.n_rows)): 1}, 1  # in how many of all the ways so far, which are equally likely
    for colour, rows in enumerate(by_colour):
        draws: dict[frozenset[tuple[int, int]], Fraction] = {}
        pools = [pool for c, pool in enumerate(by_colour) if c != colour]
        orders = list(permutations(rows))
        for order in orders:  # who draws first is drawn, too
            _partner_draws(order, pools, l, Fraction(1, len(orders)), (), draws)
        if not draws:
            raise UnreachableError(
                f"RIA finds no {l - 1} partners of different values for every row. Use the algorithm `wrap`."
            )
        unit = lcm(*(share.denominator for share in draws.values()))
        ways = {edges: share.numerator * (unit // share.denominator) for edges, share in draws.items()}
        merged: dict[tuple[int, ...], int] = {}
        for labels, reached in states.items():
            for edges, times in ways.items():
                joined = _join(labels, edges)
                merged[joined] = merged.get(joined, 0) + reached * times
        states, whole = merged, whole * sum(ways.values())
    for labels, reached in states.items():
        yield Fraction(reached, whole), np.array(labels, dtype=np.int32)


def rank_weights(table: Table, given: Mapping[str, int] | None = None) -> list[int]:
    """A whole number for every quasi-identifier: the weights given, else those of the schema, scaled alike."""
    names = table.schema.quasi_identifiers
    if given is not None:
        problems = [unknown("Quasi-identifier", name, names) for name in given if name not in names]
        if problems:
            raise ParameterError(problems)
        weights = [given.get(name, 1) for name in names]
    else:
        shares = [exact(table.schema.column(name).weight) for name in names]
        scale = lcm(*(share.denominator for share in shares))
        weights = [int(share * scale) for share in shares]
    largest = sum(weight * (table[name].domain.size + 1) for weight, name in zip(weights, names, strict=True))
    if largest >= _LARGEST_RANK:
        raise ParameterError("The weights of the quasi-identifiers are too large for exact ranks. Give smaller ones.")
    return weights


def weighted_ranks(table: Table, weights: Sequence[int]) -> NDArray[np.int64]:
    """Section 3.3: the weighted sum of the ranks (1, 2, ...) of a row's quasi-identifiers.

    Values rank in the order of their codes, those of a column with a hierarchy in the order of its leaves.
    """
    total = np.zeros(table.n_rows, dtype=np.int64)
    for name, weight in zip(table.schema.quasi_identifiers, weights, strict=True):
        column = table[name]
        place = column.leaf_codes if column.settings.hierarchy is not None else np.arange(column.domain.size)
        for part in stretches(table.n_rows):
            total[part] += (weight * (place + 1))[column.codes[part]]
    return total


def by_weighted_rank(weighted: NDArray[np.int64]) -> NDArray[np.integer]:
    """Rows by ascending weighted rank, ties by row number."""
    from undercover.steps.dealing.kernels import rank_order

    lowest = int(weighted.min())
    n_bits = (int(weighted.max()) - lowest).bit_length()
    if n_bits > 32:
        return np.argsort(weighted, kind="stable").astype(np.uint32)  # what the kernels are compiled for
    keys = np.empty(len(weighted), dtype=np.uint32)
    np.subtract(weighted, lowest, out=keys, casting="unsafe")
    order: NDArray[np.integer] = rank_order(keys, n_bits)
    return order


def _counts(codes: NDArray[np.unsignedinteger], size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    counts = count(codes, size)
    return counts, np.concatenate([[0], np.cumsum(counts)])


def _require_eligible_strata(
    table: Table, sensitive: str, counts: NDArray[np.int64], l: int, describe: Callable[[int], str]
) -> None:
    """Raise where some stratum is not l-eligible. They are never merged: that would tell of their values."""
    rows, top = counts.sum(axis=1), counts.max(axis=1)
    bad = np.flatnonzero(top * l > rows)
    if not len(bad):
        return
    worst = int(bad[np.argmax(top[bad] / rows[bad])])
    best = int((rows // top).min())
    raise UnreachableError(
        f"l={l} cannot be reached in {len(bad):,} of {len(rows):,} strata: in {describe(worst)}, the most "
        f"frequent value of `{sensitive}` is {top[worst] / rows[worst]:.1%} of the rows ({top[worst]:,} of "
        f"{rows[worst]:,}). "
        f"Name coarser strata, or a smaller l: the largest feasible l for these strata is {best}.",
        best={"l": best},
    )


def _partner_draws(
    rows: Sequence[int],
    pools: Sequence[Sequence[int]],
    l: int,
    share: Fraction,
    edges: tuple[tuple[int, int], ...],
    draws: dict[frozenset[tuple[int, int]], Fraction],
) -> None:
    """Collect the partners that the rows of one value may draw, with their probabilities."""
    if not rows:
        key = frozenset(edges)
        draws[key] = draws.get(key, Fraction(0)) + share
        return
    picks = list(combinations([c for c, pool in enumerate(pools) if pool], l - 1))
    for chosen in picks:
        part = share / len(picks) / prod(len(pools[c]) for c in chosen)
        for partners in product(*(pools[c] for c in chosen)):
            left = [[row for row in pool if row not in partners] for pool in pools]
            _partner_draws(rows[1:], left, l, part, (*edges, *((rows[0], other) for other in partners)), draws)


def _join(labels: tuple[int, ...], edges: frozenset[tuple[int, int]]) -> tuple[int, ...]:
    """The partition after merging the groups of every pair in ``edges``; groups are named by their lowest row."""
    merged = list(labels)
    for first, second in edges:
        low, high = sorted((merged[first], merged[second]))
        merged = [low if label == high else label for label in merged]
    return tuple(merged)
