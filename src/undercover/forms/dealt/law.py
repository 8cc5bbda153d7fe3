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

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from undercover.forms.boxes import Buckets

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
_EQUAL = 1.0 - 1e-12


@dataclass(frozen=True)
class Law:
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

    def believed(self, value: Any, shown: Any, spread: Any) -> Any:
        """The probability of a value that a share of the rows show, with the mean ``spread`` of all that fit."""
        return np.minimum(self.base[value] * spread + self.slope[value] * shown, self.most)  # less what rounding adds

    def posteriors(
        self, offsets: Whole, members: Whole, buckets: Buckets, target_of: Whole, truth: Whole
    ) -> tuple[Floats, Floats]:
        """As :func:`undercover.forms.kernels.posteriors`, by the law: the best guess may be a value no row shows."""
        weights, bucket_of, starts, values, counts, sizes, n_values = buckets
        n, bucket = len(offsets) - 1, bucket_of[members]
        target = np.repeat(np.arange(n), np.diff(offsets))
        total = np.bincount(target, weights=weights[members], minlength=n)
        times = starts[bucket + 1] - starts[bucket]
        entry = np.arange(int(times.sum())) - np.repeat(np.cumsum(times) - times - starts[bucket], times)
        rows = np.repeat(weights[members] / sizes[bucket], times) * counts[entry]
        target = np.repeat(target, times)
        over = np.where(total > 0, total, 1.0)
        spread = np.bincount(target, weights=rows * self.spread[values[entry]], minlength=n) / over
        keys, place = np.unique(target * n_values + values[entry], return_inverse=True)
        shown = np.bincount(place.reshape(-1), weights=rows, minlength=len(keys)) / over[keys // n_values]
        of_key, believed = keys // n_values, self.believed(keys % n_values, shown, spread[keys // n_values])
        top = self.base == self.base.max()
        unseen = self.base.max() * spread  # of the most frequent values, where no row shows them
        highest = unseen.copy()
        np.maximum.at(highest, of_key, believed)
        ties = np.bincount(of_key[believed >= highest[of_key] * _EQUAL], minlength=n)
        seen = np.bincount(of_key[top[keys % n_values]], minlength=n)
        ties += np.where(unseen >= highest * _EQUAL, int(top.sum()) - seen, 0)
        asked = target_of * n_values + truth
        found = np.minimum(np.searchsorted(keys, asked), max(len(keys) - 1, 0))
        mine = np.where(keys[found] == asked, shown[found], 0.0) if len(keys) else np.zeros(len(asked))
        there = total[target_of] > 0
        probability = np.where(there, self.believed(truth, mine, spread[target_of]), 0.0)
        best = there & (probability >= highest[target_of] * _EQUAL)
        return probability, np.where(best, 1 / np.maximum(ties[target_of], 1), 0.0)


def posteriors(
    law: Law | None, offsets: Whole, members: Whole, buckets: Buckets, target_of: Whole, truth: Whole
) -> tuple[Floats, Floats]:
    """Probability of the true value of every row and of a right guess: by a law, or by the rows that fit."""
    if law is not None:
        return law.posteriors(offsets, members, buckets, target_of, truth)
    from undercover.forms import kernels

    found: tuple[Floats, Floats] = kernels.posteriors(offsets, members, buckets, target_of, truth)
    return found
