"""What a shown value says of a person where sensitive values were dealt anew, and what is believed of all that fit.

Values were dealt, every order equally likely, among at least a rows whose values all differ. So a row shows the value u
of the person whose place it is with probability at most 1/a; otherwise the person has another value, and as nothing is
known of the group, each as likely as it is frequent among the others. With f the shares of the values in the published
table, whoever takes a row that shows u for a person's place believes

    b(v | u) = 1/a                           where v = u,
               (1 - 1/a) f_v / (1 - f_u)     where not,

and over several rows that fit the mean of it. That never exceeds 1/a where no f does, and values that differ in every
group are that rare: for v other than u, (1 - 1/a) f_v / (1 - f_u) <= (1 - 1/a) (1/a) / (1 - 1/a) = 1/a.

The mean needs two figures of the rows that fit: p_v, the share that shows v, and W, the mean of 1 / (1 - f_u):

    b(v) = (1 - 1/a) f_v W + p_v (1/a - f_v) / (1 - f_v).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from undercover.model.verdict import among_values

if TYPE_CHECKING:
    from undercover.forms.boxes import Buckets

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]


class Law(NamedTuple):
    """The law of one sensitive column, by the code of a value.

    Examples
    --------
    Three values among at least two rows each; one row fits and shows the first:

    >>> law = Law.of(2, np.array([2, 1, 1]))
    >>> [float(law.believed(value, value == 0, law.spread[0])) for value in range(3)]
    [0.5, 0.25, 0.25]
    """

    base: Floats  # (n_values,) what W counts for
    slope: Floats  # (n_values,) what the share of the rows that show the value counts for
    spread: Floats  # (n_values,) 1 / (1 - f)
    most: float = 1.0  # that can be believed of any value

    @classmethod
    def of(cls, among: int, counts: NDArray[Any]) -> Law:
        """From how many rows at least values were dealt among, and (n_values,) how many rows show each value."""
        share, kept = counts / max(int(counts.sum()), 1), 1 / among
        others = 1 - share
        alone = others <= 0  # a table of one value tells it, however it was dealt
        others[alone] = 1.0
        return cls(
            np.where(alone, 0.0, (1 - kept) * share),
            np.where(alone, 1.0, (kept - share) / others),
            np.where(alone, 0.0, 1 / others),
            kept if (share <= kept).all() else 1.0,
        )

    @classmethod
    def of_rows(cls, n_values: int) -> Law:
        """Where rows have their own values: each is as probable as it is frequent among the rows that fit.

        >>> float(Law.of_rows(3).believed(1, 0.25, 0.0))
        0.25
        """
        return cls(np.zeros(n_values), np.ones(n_values), np.zeros(n_values))

    def believed(self, value: Any, shown: Any, spread: Any) -> Any:
        """The probability of a value that a share of the rows show, with the mean ``spread`` of all that fit."""
        return np.minimum(self.base[value] * spread + self.slope[value] * shown, self.most)  # less what rounding adds

    def without(self, value: int) -> Law:
        """The same law where a value is never believed."""
        base, slope = self.base.copy(), self.slope.copy()
        base[value] = slope[value] = 0.0
        return self._replace(base=base, slope=slope)


def posteriors(
    law: Law | None,
    offsets: Whole,
    members: Whole,
    buckets: Buckets,
    target_of: Whole,
    truth: Whole,
    missing: int | None = None,
) -> tuple[Floats, Floats]:
    """Probability of the true value of every row and of a right guess: by a law, or by the rows that fit.

    ``missing`` is the code of a missing value. Of a row that has a value, both are asked among those that have one.
    """
    from undercover.forms import kernels

    by = Law.of_rows(buckets.n_values) if law is None else law
    found: tuple[Floats, Floats] = kernels.posteriors(offsets, members, buckets, by, target_of, truth)
    if missing is None:
        return found
    lacking = truth == missing
    lost = kernels.posteriors(offsets, members, buckets, by, target_of, np.full_like(truth, missing))[0]
    believed, hits = kernels.posteriors(offsets, members, buckets, by.without(missing), target_of, truth)
    return np.where(lacking, found[0], among_values(believed, lost)), np.where(lacking, found[1], hits)
