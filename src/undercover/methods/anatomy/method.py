"""Anatomy: exact quasi-identifiers and sensitive values, parted into two tables that meet only in buckets.

Xiao & Tao 2006, "Anatomy: Simple and Effective Privacy Preservation", Figure 3: buckets of l rows with l different
sensitive values, one from each of the l most frequent values that are left; rows left over join a bucket without
their value.

Deviations: equally frequent values are taken in a secret uniform order (by label, the buckets of a numeric column would
hold neighbouring numbers), within a value the rows are dealt in a secret uniform order (the paper says "a random
tuple"), bucket numbers are shuffled, and the bucket of a leftover row is uniform among those without its value. The
algorithm does not look at quasi-identifiers and treats rows of one value alike, so knowing it tells nothing beyond the
release: ``algorithm_safe`` is true. Anatomy does not hide *who is in the table*: quasi-identifiers are published as
they are. Where people have several rows, these are dealt in rounds, so that nobody has two of them in a bucket
(:mod:`undercover.steps.dealing.rounds`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import lcm
from typing import Annotated, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from undercover.arrays import count
from undercover.errors import InternalError
from undercover.model.form import BUCKET, Buckets
from undercover.model.groups import Groups, Seen, seen_groups
from undercover.model.protocols import Engine, Guarantee, Progress, no_progress
from undercover.model.release import PublishedColumn, PublishedTable
from undercover.model.run import Draft
from undercover.model.table import Table
from undercover.parameters import AtLeast, check
from undercover.randomness import Randomness
from undercover.steps.claims import l_claims
from undercover.steps.dealing.groups import (
    Deal,
    numbering,
    rank_values,
    require_eligible,
    sensitive_column,
    value_rankings,
)
from undercover.steps.dealing.rounds import Dealt, in_rounds
from undercover.steps.recoding import require_free_names, sensitive_table, values_of
from undercover.steps.shuffling import shuffle_within, spare_words

_INSIDE = 1 << 10  # how far from the edge of its part a word lies that stands for it; no such word is rejected


@dataclass(frozen=True, kw_only=True)
class Anatomy:
    """Bucketisation into l-diverse buckets.

    Parameters
    ----------
    l
        No sensitive value is more than 1/l of its bucket.

    Examples
    --------
    >>> Anatomy(l=4)
    Anatomy(l=4)
    >>> Anatomy(l=1)
    Traceback (most recent call last):
    undercover.errors.ParameterError: The 'l' parameter of Anatomy must be an int in [2, inf). Got 1 instead.
    """

    name: ClassVar[str] = "anatomy"
    about: ClassVar[str] = "undercover.methods.anatomy.about:ABOUT"
    per_unit: ClassVar[bool] = True

    l: Annotated[int, AtLeast(2)]

    def __post_init__(self) -> None:
        check(self)

    @property
    def algorithm_safe(self) -> bool:
        """Blind to quasi-identifiers, secret uniform picks."""
        return True

    @property
    def corruption_robust(self) -> bool:
        """Who has a value takes a slot of it at random, whoever has the others."""
        return True

    def claims(self, table: Table) -> tuple[Guarantee, ...]:
        """Frequency l-diversity of every bucket."""
        return l_claims(self.l, table)

    def anonymize(
        self, table: Table, *, engine: Engine, randomness: Randomness, progress: Progress = no_progress
    ) -> Draft:
        """Deal the rows into buckets and publish the two tables."""
        sensitive = sensitive_column(table, "Anatomy")
        require_free_names(table, "Anatomy")
        require_eligible(table, sensitive, engine.histogram(table, sensitive), self.l)
        progress("dealing", 0.0)
        threads = engine.threads
        groups, shuffles = in_rounds(
            table, sensitive, self.l, randomness, lambda part, words: _deal(part, sensitive, self.l, words, threads)
        )
        # Numbers tell no round.
        dealt, groups = groups, groups if table.units is None else _shuffled(groups, randomness, threads)
        qit, order = _qit(table, groups, randomness, threads)
        return Draft(
            tables=(qit, sensitive_table(table, sensitive, groups, threads)),
            groups=groups,
            form=Buckets(),
            buckets=groups.labels,
            diagnostics={"buckets": groups.count},
            order=order,
            shuffles=shuffles if table.units is None else (*shuffles, *numbering(groups, dealt)),
        )

    def outcomes(self, table: Table) -> Iterator[tuple[Fraction, Seen]]:
        """Every bucketisation of a tiny table with its exact probability, as an adversary sees it.

        The words that place rows left over stand for equal parts of all words: ``parts`` of them, a multiple of every
        number of buckets there can be to choose from.
        """
        (sensitive,) = table.schema.sensitive
        codes = table[sensitive].codes
        require_eligible(table, sensitive, count(codes, table[sensitive].domain.size), self.l)
        parts = lcm(*range(1, table.n_rows // self.l + 1))
        words = [-(-part * 2**32 // parts) + _INSIDE for part in range(parts)]
        left_over = self.l - 1  # at most
        rankings = value_rankings(count(codes, table[sensitive].domain.size))
        for ranking, chosen in product(rankings, product(words, repeat=left_over)):
            drawn = np.array([*chosen, 0], dtype=np.uint32)
            dealt = _dealt(table, sensitive, self.l, ranking, drawn, np.empty(0, np.uint32))
            if dealt is None:
                raise InternalError("A word from inside its part was rejected.")
            for probability, labels in dealt.outcomes():
                yield probability / (len(rankings) * parts**left_over), seen_groups(labels, codes)


def deal(table: Table, sensitive: str, l: int, randomness: Randomness, threads: int = 1) -> Groups:
    """Figure 3: the bucket of every row."""
    return _deal(table, sensitive, l, randomness, threads)[0]


def _deal(table: Table, sensitive: str, l: int, randomness: Randomness, threads: int) -> Dealt:
    """The same, and what was dealt in secret."""
    column, attempt = table[sensitive], 0
    ranking = rank_values(count(column.codes, column.domain.size), randomness)
    while True:
        words = randomness.words(f"rows left over/{attempt}", l)
        spare = randomness.words(f"rows left over/{attempt}/spare", spare_words(l, table.n_rows))
        dealt = _dealt(table, sensitive, l, ranking, words, spare)
        if dealt is not None:
            break
        attempt += 1
    drawn = dealt.draw(randomness, threads)
    buckets = _shuffled(drawn, randomness, threads)
    return buckets, (*dealt.shuffles(drawn), *numbering(buckets, drawn))


def _shuffled(groups: Groups, randomness: Randomness, threads: int) -> Groups:
    """The same buckets, their numbers in a secret order."""
    from undercover.compiled.rows import recoded

    numbers = np.arange(groups.count, dtype=np.int32)
    shuffle_within(numbers, np.array([0, groups.count]), randomness, "numbers of buckets", threads)
    return Groups(recoded(groups.labels, numbers, threads), groups.count)


def _dealt(
    table: Table,
    sensitive: str,
    l: int,
    ranking: NDArray[np.int64],
    words: NDArray[np.uint32],
    spare: NDArray[np.uint32],
) -> Deal | None:
    """Slots of every sensitive value, with the rows left over placed by ``words``; None if the words ran out."""
    from undercover.methods.anatomy.kernels import deal_largest
    from undercover.steps.dealing.kernels import take_slots

    column = table[sensitive]
    counts = count(column.codes, column.domain.size)
    offsets = np.concatenate([[0], np.cumsum(counts)])
    slots, buckets, enough = deal_largest(offsets, ranking, l, words, spare)
    if not enough:
        return None
    if (slots < 0).any():
        raise InternalError("Anatomy left a row without a bucket although the table is l-eligible.")
    return Deal(slots, offsets, lambda slots: take_slots(column.codes, offsets, slots), buckets, column.codes)


def _qit(
    table: Table, groups: Groups, randomness: Randomness, threads: int
) -> tuple[PublishedTable, NDArray[np.integer]]:
    """Quasi-identifiers as they are, with the bucket; rows of a bucket in a secret uniform order, and that order."""
    rows = groups.order.copy()
    shuffle_within(rows, groups.offsets, randomness, "order of rows", threads)
    columns = [PublishedColumn(name, "quasi-identifier", "value") for name in table.schema.quasi_identifiers]
    columns += [PublishedColumn(name, "insensitive", "value") for name in table.schema.insensitive]
    data = [values_of(table[column.name], rows, threads) for column in columns]
    columns.append(PublishedColumn(BUCKET, "structure", "value"))
    # Rows stand bucket by bucket, whatever their order within it.
    data.append(pa.array(np.repeat(np.arange(groups.count, dtype=np.int32), groups.sizes)))
    return PublishedTable("qit", tuple(columns), pa.table(data, names=[column.name for column in columns])), rows
