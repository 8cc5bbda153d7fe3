"""Cross-bucket generalization: k rows written alike, l values apart, without inflating the one for the other.

Li, Liu, Han & Zhang, "Cross-Bucket Generalization for Information and Privacy Preservation" (TKDE 2018). Rows form
equivalence groups of about k rows with generalised quasi-identifiers, and across these groups buckets whose sensitive
values are detached from the rows. Whoever knows a person's quasi-identifiers picks the row with at most 1/k and the
sensitive value with at most 1/l.

Deviations: see :mod:`undercover.methods.cross_bucket.groups`; the printed algorithms break the promise on the paper's
own example. What is published was checked in whole numbers before.

Which rows are taken together depends on sensitive values and quasi-identifiers at once, so somebody who knows the
algorithm may infer more than the release shows: ``algorithm_safe`` is false.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from undercover.guarantees.k_anonymity import KAnonymity
from undercover.guarantees.kl_anonymity import KLAnonymity
from undercover.methods.cross_bucket.groups import cross_buckets, require_plannable
from undercover.model.form import Buckets
from undercover.model.protocols import Engine, Guarantee, Progress, no_progress
from undercover.model.run import Draft
from undercover.model.table import Table
from undercover.parameters import AtLeast, check
from undercover.randomness import Randomness
from undercover.steps.dealing.groups import sensitive_column
from undercover.steps.recoding import box_cells, generalized_buckets, joined_view, require_free_names, sensitive_table


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

    Examples
    --------
    >>> CrossBucket(k=3, l=10)
    CrossBucket(k=3, l=10, joined=False)
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

    def __post_init__(self) -> None:
        check(self)

    @property
    def algorithm_safe(self) -> bool:
        """Rows are taken together by value and by closeness: that can be inverted on small tables."""
        return False

    def claims(self, table: Table) -> tuple[Guarantee, ...]:
        """k-anonymity of the boxes, and (k, l)-anonymity of boxes and buckets together."""
        return (KAnonymity(k=self.k), KLAnonymity(k=self.k, l=self.l))

    def anonymize(
        self, table: Table, *, engine: Engine, randomness: Randomness, progress: Progress = no_progress
    ) -> Draft:
        """Group the rows both ways, check the result, and publish QIT and SAT."""
        sensitive = sensitive_column(table, "CrossBucket")
        require_free_names(table, "CrossBucket")
        counts = engine.histogram(table, sensitive)
        k, l = self.k, self.l
        require_plannable(table, sensitive, counts, k, l)
        found = cross_buckets(
            table, sensitive, counts, k=k, l=l, randomness=randomness, threads=engine.threads, progress=progress
        )
        progress("generalising", 0.95)
        cells = box_cells(table, found.groups)
        tables = [
            generalized_buckets(table, found.groups, found.buckets.labels, cells, randomness),
            sensitive_table(table, sensitive, found.buckets.labels),
        ]
        if self.joined:
            tables.append(joined_view(table, sensitive, found.groups, found.buckets.labels, cells, randomness))
        sizes = found.groups.sizes
        return Draft(
            form=Buckets(joined="joined" if len(tables) > 2 else None),
            tables=tuple(tables),
            groups=found.groups,
            buckets=found.buckets.labels,
            diagnostics={
                "groups": found.groups.count,
                "buckets": found.buckets.count,
                "picks": found.picks.count,
                "largest_group": int(sizes.max()),
                "discernibility": int(np.dot(sizes, sizes)),
            },
        )
