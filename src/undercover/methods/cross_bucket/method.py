"""Cross-bucket generalization: k rows written alike, l values apart, without inflating the one for the other.

Li, Liu, Han & Zhang, "Cross-Bucket Generalization for Information and Privacy Preservation" (TKDE 2018). Rows form
equivalence groups of about k rows with generalised quasi-identifiers, and across these groups buckets whose sensitive
values are detached from the rows. Whoever knows a person's quasi-identifiers picks the row with at most 1/k and the
sensitive value with at most 1/l.

Deviations: there are two ways to such groups and buckets. ``variant="safe"``, the default, is our own: groups from
quasi-identifiers alone, buckets that are whole safe groups (:mod:`undercover.methods.cross_bucket.safe`). It tells
nothing more to somebody who knows the algorithm, and its boxes are smaller. ``variant="paper"`` is the paper's,
repaired, and not safe (:mod:`undercover.methods.cross_bucket.paper`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, ClassVar, Literal

import numpy as np

from undercover.arrays import count
from undercover.guarantees.k_anonymity import KAnonymity
from undercover.guarantees.kl_anonymity import KLAnonymity
from undercover.methods.cross_bucket.paper import cross_buckets, require_plannable
from undercover.methods.cross_bucket.safe import Boxes, boxes_of, bucket_outcomes, buckets_of, check_safe
from undercover.model.form import Buckets
from undercover.model.groups import Groups, Seen, seen_groups
from undercover.model.protocols import Engine, Guarantee, Progress, no_progress
from undercover.model.run import Draft, Shuffle
from undercover.model.table import Table
from undercover.parameters import AtLeast, check
from undercover.randomness import Randomness
from undercover.steps.cutting.checks import require_rows
from undercover.steps.dealing.groups import numbering, require_eligible, sensitive_column
from undercover.steps.recoding import box_cells, generalized_buckets, joined_view, require_free_names, sensitive_table
from undercover.wording import parameter


@dataclass(frozen=True, kw_only=True)
class CrossBucket:
    """Equivalence groups of at least k rows, and buckets across them that keep every sensitive value below 1/l.

    Parameters
    ----------
    k
        Every published combination of quasi-identifiers occurs at least k times.
    l
        Whoever knows a person's quasi-identifiers gives no sensitive value more than 1/l.
    joined
        Also publish one table in which every row shows some sensitive value of its bucket, drawn at random; it tells
        nothing that the other two tables do not.
    variant
        ``safe``: boxes never see a sensitive value, and buckets are whole groups of at least l values. ``paper``: as
        printed, repaired; somebody who knows the algorithm may infer more than the release shows.
    boxes
        For ``safe``: ``mondrian`` (the default), which loses least, or ``exact``, boxes of k rows or one more.
    robust
        For ``safe``: deal buckets at random (`wrap`), so that known values of others tell nothing beyond their bucket.
        By default rows of a bucket lie close together (class dealing), which keeps associations better.

    Examples
    --------
    >>> CrossBucket(k=3, l=10)
    CrossBucket(k=3, l=10, joined=False, variant='safe', boxes=None, robust=False)
    >>> CrossBucket(k=3, l=10).algorithm_safe, CrossBucket(k=3, l=10, variant="paper").algorithm_safe
    (True, False)
    >>> CrossBucket(k=0, l=0.5)
    Traceback (most recent call last):
    undercover.errors.ParameterError: 2 problems:
    - The 'k' parameter of CrossBucket must be an int in [1, inf). Got 0 instead.
    - The 'l' parameter of CrossBucket must be an int in [1, inf). Got 0.5 instead.
    """

    name: ClassVar[str] = "cross-bucket"
    about: ClassVar[str] = "undercover.methods.cross_bucket.about:ABOUT"

    k: Annotated[int, AtLeast(1)]
    l: Annotated[int, AtLeast(1)]
    joined: bool = False
    variant: Literal["safe", "paper"] = "safe"
    boxes: Boxes | None = None
    robust: bool = False

    def __post_init__(self) -> None:
        check(self, self._unfit())

    def _unfit(self) -> Iterator[str]:
        if self.variant == "paper":
            for name, given in (("boxes", self.boxes is not None), ("robust", self.robust is True)):
                if given:
                    yield f"The '{name}' parameter of CrossBucket belongs to {parameter(variant='safe')}. Leave it out."

    @property
    def algorithm_safe(self) -> bool:
        """The paper's rows are taken together by value and by closeness: that can be inverted on small tables."""
        return self.variant == "safe"

    @property
    def corruption_robust(self) -> bool:
        """Where buckets are dealt by `wrap`: class dealing joins classes, so that one known value may tell others."""
        return self.algorithm_safe and self.robust

    def claims(self, table: Table) -> tuple[Guarantee, ...]:
        """k-anonymity of the boxes, and (k, l)-anonymity of boxes and buckets together."""
        return (KAnonymity(k=self.k), KLAnonymity(k=self.k, l=self.l))

    def anonymize(
        self, table: Table, *, engine: Engine, randomness: Randomness, progress: Progress = no_progress
    ) -> Draft:
        """Group the rows both ways, check the result, and publish QIT and SAT."""
        sensitive = sensitive_column(table, "CrossBucket")
        require_free_names(table, "CrossBucket")
        divided = self._safe if self.variant == "safe" else self._paper
        groups, buckets, shuffles, more = divided(table, sensitive, engine, randomness, progress)
        progress("generalising", 0.0)
        threads = engine.threads
        cells = box_cells(table, groups, threads)
        qit, order = generalized_buckets(table, groups, buckets, cells, randomness, threads)
        tables = [qit, sensitive_table(table, sensitive, buckets, threads)]
        if self.joined:
            tables.append(joined_view(table, sensitive, groups, buckets, cells, randomness, threads))
        return Draft(
            form=Buckets(joined="joined" if self.joined else None),
            tables=tuple(tables),
            groups=groups,
            buckets=buckets.labels,
            diagnostics={
                "groups": groups.count,
                "buckets": buckets.count,
                **more,
                "largest_group": int(groups.sizes.max()),
                "discernibility": int(np.dot(groups.sizes, groups.sizes)),
            },
            order=order,
            shuffles=shuffles,
        )

    def outcomes(self, table: Table) -> Iterator[tuple[Fraction, Seen]] | None:
        """Every way to deal a tiny table into buckets: who is with whom there, with its exact probability.

        Boxes follow from quasi-identifiers, so whoever is told the buckets knows more than the release shows. The
        paper's buckets are smaller than l and may not be told: of it nothing is listed.
        """
        return self._told(table) if self.variant == "safe" else None

    def _told(self, table: Table) -> Iterator[tuple[Fraction, Seen]]:
        sensitive = sensitive_column(table, "CrossBucket")
        codes = table[sensitive].codes
        require_rows(table, self.k)
        require_eligible(table, sensitive, count(codes, table[sensitive].domain.size), self.l)
        for probability, labels in bucket_outcomes(table, sensitive, self.l, robust=self.robust):
            yield probability, seen_groups(labels, codes)

    def _safe(
        self, table: Table, sensitive: str, engine: Engine, randomness: Randomness, progress: Progress
    ) -> tuple[Groups, Groups, tuple[Shuffle, ...], Mapping[str, int]]:
        require_rows(table, self.k)
        require_eligible(table, sensitive, engine.histogram(table, sensitive), self.l)
        boxes = self.boxes or "mondrian"
        groups = boxes_of(table, self.k, boxes, engine=engine, randomness=randomness, progress=progress)
        buckets, shuffles = buckets_of(
            table,
            sensitive,
            self.l,
            robust=self.robust,
            randomness=randomness,
            threads=engine.threads,
            progress=progress,
        )
        check_safe(groups, buckets, table[sensitive].codes, k=self.k, l=self.l)
        return groups, buckets, shuffles, {}

    def _paper(
        self, table: Table, sensitive: str, engine: Engine, randomness: Randomness, progress: Progress
    ) -> tuple[Groups, Groups, tuple[Shuffle, ...], Mapping[str, int]]:
        counts = engine.histogram(table, sensitive)
        require_plannable(table, sensitive, counts, self.k, self.l)
        found = cross_buckets(
            table,
            sensitive,
            counts,
            k=self.k,
            l=self.l,
            randomness=randomness,
            threads=engine.threads,
            progress=progress,
        )
        shuffles = (*numbering(found.buckets), Shuffle("numbers of buckets: as dealt", found.numbers))
        return found.groups, found.buckets, shuffles, {"picks": found.picks.count}
