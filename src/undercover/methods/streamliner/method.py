"""Privacy Streamliner: l-diverse groups in linear time that stay private when the algorithm is known.

Liu & Wang, "Privacy Streamliner", Section 3: RIA (Table 5), RDA (Table 6), GDA (Table 7). Each row gets l - 1 partners
of other sensitive values; groups that keep all partners together are published as minimum bounding rectangles.

Deviations. The paper's proof covers an adversary who knows that the published partition is one of a harmless set, not
one who knows which table leads to which partition. So:

- ``wrap`` (default) and ``guided`` are our own. `wrap` deals the rows, value after value, round and round over n // l
  groups after a secret shuffle within each value: every group has the smallest size there can be. `guided` does so
  inside strata of quasi-identifiers fixed beforehand, and among groups with the same values joins rows of near rank.
- ``classes``: class dealing (:mod:`undercover.steps.dealing.classes`), our own, too: as safe as `guided`, slower, and
  its groups are far nearer (decision 32).
- ``rda``: equally frequent values are taken in a secret order (by label, groups would hold neighbouring numbers) and
  rows within a value are shuffled in secret, which makes it algorithm-safe; with rows taken in input order, as a reader
  of Table 6 may do it, it is not.
- ``gda`` follows Table 7, with a repair where the table leaves rows without a compatible group. It looks at
  quasi-identifiers and sensitive values together and can be inverted: it needs ``allow_unsafe``.
- ``ria``: for demonstration. For l >= 3 partners of partners soon connect the whole table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from undercover.arrays import count
from undercover.model.form import Generalized
from undercover.model.groups import Groups, Seen, seen_groups
from undercover.model.protocols import Engine, Guarantee, Progress, no_progress
from undercover.model.run import Draft
from undercover.model.table import Table
from undercover.parameters import AtLeast, check
from undercover.randomness import Randomness
from undercover.steps.claims import l_claims
from undercover.steps.dealing import groups as streamlining
from undercover.steps.dealing.classes import class_outcomes, deal_classes
from undercover.steps.dealing.groups import Deal, require_eligible, sensitive_column, strata_of
from undercover.steps.dealing.rounds import Dealt, in_rounds
from undercover.steps.recoding import box_cells, ordered_table
from undercover.wording import parameter

Algorithm = Literal["wrap", "guided", "classes", "rda", "gda", "ria"]


@dataclass(frozen=True, kw_only=True)
class Streamliner:
    """Groups of at least l rows in which no sensitive value is more than 1/l of the rows.

    Parameters
    ----------
    l
        No sensitive value is more than 1/l of its group.
    algorithm
        ``wrap`` (smallest groups), ``guided`` (near rows together, inside strata), ``classes`` (nearer rows, by class
        dealing), or the paper's ``rda``, ``gda`` and ``ria``.
    strata
        For ``guided``: quasi-identifiers whose values are kept apart, chosen before anybody looks at sensitive
        values. ``birthplace:1`` means level 1 of the hierarchy of `birthplace`.
    weights
        For ``guided`` and ``gda``: how much a step in the rank of a quasi-identifier counts, as whole numbers; by
        default the weights of the columns in the schema.
    allow_unsafe
        Needed for ``gda``, which somebody who knows the algorithm can invert.

    Examples
    --------
    >>> Streamliner(l=4).algorithm
    'wrap'
    >>> Streamliner(l=4, algorithm="guided", strata="sex,region:1").strata
    ('sex', 'region:1')
    >>> Streamliner(l=4, algorithm="gda")
    Traceback (most recent call last):
    undercover.errors.ParameterError: The algorithm `gda` of Streamliner is not safe: ...
    """

    name: ClassVar[str] = "streamliner"
    about: ClassVar[str] = "undercover.methods.streamliner.about:ABOUT"
    per_unit: ClassVar[bool] = True

    l: Annotated[int, AtLeast(2)]
    algorithm: Algorithm = "wrap"
    strata: tuple[str, ...] | None = None
    weights: Mapping[str, Annotated[int, AtLeast(0)]] | None = None
    allow_unsafe: bool = False

    def __post_init__(self) -> None:
        check(self, self._unfit())

    def _unfit(self) -> Iterator[str]:
        if self.strata is not None and self.algorithm != "guided":
            yield f"The algorithm `{self.algorithm}` of Streamliner has no strata; `guided` has."
        if self.weights is not None and self.algorithm not in ("guided", "gda"):
            yield f"The algorithm `{self.algorithm}` of Streamliner has no weights; `guided` and `gda` have."
        if self.algorithm == "gda" and self.allow_unsafe is not True:
            yield (
                "The algorithm `gda` of Streamliner is not safe: somebody who knows it can infer sensitive values. "
                "Use `classes`, which is safe unless values of others are known, or `wrap`, which is safe then, too; "
                f"or say {parameter(allow_unsafe=True)} to publish it all the same."
            )

    @property
    def algorithm_safe(self) -> bool:
        """All but ``gda`` treat rows of a group alike whatever their sensitive values."""
        return self.algorithm != "gda"

    @property
    def corruption_robust(self) -> bool:
        """``wrap`` and ``rda``: rows of a value take its slots at random. ``guided`` zips rows in the order of their
        ranks, and ``classes`` joins near rows, so that one known value may tell which row of other groups has which."""
        return self.algorithm in ("wrap", "rda")

    def claims(self, table: Table) -> tuple[Guarantee, ...]:
        """Frequency l-diversity of every class."""
        return l_claims(self.l, table)

    def anonymize(
        self, table: Table, *, engine: Engine, randomness: Randomness, progress: Progress = no_progress
    ) -> Draft:
        """Group the rows and publish every group as its minimum bounding rectangle."""
        progress("grouping", 0.0)

        def deal(part: Table, words: Randomness) -> Dealt:
            if self.algorithm == "classes":
                return self._classes(part, words, threads=engine.threads, progress=progress)
            if type(self).groups is not Streamliner.groups:  # dealt by somebody who knows of no threads
                return self.groups(part, words), ()
            return self._grouped(part, words, engine.threads)

        groups, shuffles = in_rounds(table, self._eligible(table), self.l, randomness, deal)
        progress("generalising", 0.0)
        cells = box_cells(table, groups, engine.threads)
        published, order = ordered_table(table, groups, cells, randomness, threads=engine.threads)
        sizes = groups.sizes
        diagnostics: dict[str, Any] = {
            "algorithm": self.algorithm,
            "groups": groups.count,
            "smallest_group": int(sizes.min()),
            "largest_group": int(sizes.max()),
        }
        if self.algorithm == "guided":
            diagnostics["strata"] = int(strata_of(table, self.strata or ())[0].max()) + 1
        return Draft(
            tables=(published,),
            groups=groups,
            form=Generalized(),
            diagnostics=diagnostics,
            order=order,
            shuffles=shuffles,
        )

    def outcomes(self, table: Table) -> Iterator[tuple[Fraction, Seen]]:
        """Every partition of a tiny table with its exact probability, as an adversary sees it."""
        sensitive = self._eligible(table)
        codes = table[sensitive].codes
        if self.algorithm == "ria":
            found = streamlining.ria_outcomes(table, sensitive, self.l)
        elif self.algorithm == "classes":
            found = class_outcomes(table, sensitive, self.l)
        elif self.algorithm == "rda":
            found = self._rda_outcomes(table, sensitive)
        else:
            found = self._deal(table, sensitive).outcomes()
        for probability, labels in found:
            yield probability, seen_groups(labels, codes)

    def _rda_outcomes(self, table: Table, sensitive: str) -> Iterator[tuple[Fraction, NDArray[np.int32]]]:
        column = table[sensitive]
        rankings = streamlining.value_rankings(count(column.codes, column.domain.size))
        for ranking in rankings:
            for probability, labels in streamlining.rda(table, sensitive, self.l, ranking).outcomes():
                yield probability / len(rankings), labels

    def groups(self, table: Table, randomness: Randomness) -> Groups:
        """Which row goes where, without publishing anything."""
        return self._grouped(table, randomness, 1)[0]

    def _grouped(self, table: Table, randomness: Randomness, threads: int) -> Dealt:
        if self.algorithm == "classes":
            return self._classes(table, randomness)
        sensitive = self._eligible(table)
        if self.algorithm == "ria":
            return streamlining.ria(table, sensitive, self.l, randomness), ()
        if self.algorithm == "rda":
            column = table[sensitive]
            ranking = streamlining.rank_values(count(column.codes, column.domain.size), randomness)
            deal = streamlining.rda(table, sensitive, self.l, ranking)
        else:
            deal = self._deal(table, sensitive)
        groups = deal.draw(randomness, threads)
        return groups, deal.shuffles(groups)

    def _classes(
        self, table: Table, randomness: Randomness, *, threads: int = 1, progress: Progress = no_progress
    ) -> Dealt:
        sensitive = self._eligible(table)
        return deal_classes(table, sensitive, self.l, randomness=randomness, threads=threads, progress=progress)

    def _deal(self, table: Table, sensitive: str) -> Deal:
        if self.algorithm == "wrap":
            return streamlining.wrap(table, sensitive, self.l)
        weighted = streamlining.weighted_ranks(table, streamlining.rank_weights(table, self.weights))
        if self.algorithm == "gda":
            return streamlining.gda(table, sensitive, self.l, weighted)
        strata, names = strata_of(table, self.strata or ())
        return streamlining.guided(table, sensitive, self.l, strata, weighted, names)

    def _eligible(self, table: Table) -> str:
        """The sensitive column of a table on which l can be reached."""
        sensitive = sensitive_column(table, "Streamliner")
        column = table[sensitive]
        require_eligible(table, sensitive, count(column.codes, column.domain.size), self.l)
        return sensitive
