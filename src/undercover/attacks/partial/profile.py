"""The P_match attacker: he matches on each known column with probability P, and not on the others.

Li, Wang & He, "Privacy-Preserving Data Publishing via Mutual Cover", Section 5.1. Where values were drawn at random,
matching on everything is not his best choice: a single changed value makes him miss the person's row. So he matches on
a subset of the columns he knows, each column chosen independently with probability P.

For a subset, M is the set of published rows that fit the person's true values in it. He picks one of them
and so finds the person's own row with probability 1/m, of m rows, if it is among them, else 0; where rows were dealt,
times the probability that it is. He gives the true sensitive value its share in M, or what the law of dealt values
makes of M. Where nothing fits, both are 0. The empty subset fits all rows.

Deviations: the paper draws subsets; here all 2^d are gone through, and as their weight depends on their size alone, one
pass gives every P exactly. A generalised or bucketised row fits if its cells cover the values; there the person's own
row always fits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from undercover.errors import ParameterError
from undercover.forms.boxes import Boxes, Buckets, boxes_of
from undercover.forms.dealt.law import Law, posteriors
from undercover.forms.dealt.rows import Dealt, row_codes
from undercover.forms.reading import Reading
from undercover.forms.written import Written, combine
from undercover.model.table import Table
from undercover.wording import option

PAPERS = (0.3, 0.5, 0.7, 0.8, 0.9, 1.0)
"""The values of P in the paper's figures."""

MOST_COLUMNS = 16
ONE_EACH = "The P_match attack is not defined where one row stands for several people."

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Profile:
    """What the attacker achieves on every row, summed over the subsets of each size."""

    identity: Floats  # (n_rows, d + 1)
    matches: Floats
    attribute: Mapping[str, Floats]
    hits: Mapping[str, Floats]

    def at(self, p: float) -> tuple[Floats, Floats, dict[str, Floats], dict[str, Floats]]:
        """Identity, expected matching rows, attribute and right guesses at one P, each (n_rows,)."""
        d = self.identity.shape[1] - 1
        weights = np.array([p**size * (1 - p) ** (d - size) for size in range(d + 1)])
        return (
            self.identity @ weights,
            self.matches @ weights,
            {name: sums @ weights for name, sums in self.attribute.items()},
            {name: sums @ weights for name, sums in self.hits.items()},
        )

    def means(self, p: float) -> dict[str, Any]:
        """The means over all rows at one P, ready for JSON."""
        identity, _, attribute, hits = self.at(p)
        return {
            "p": p,
            "identity": {"mean": float(identity.mean()), "max": float(identity.max())},
            "attribute": {
                name: {
                    "mean": float(values.mean()),
                    "max": float(values.max()),
                    "guess_success": float(hits[name].mean()),
                }
                for name, values in attribute.items()
            },
        }


def profile(
    reading: Reading,
    original: Table,
    known: Sequence[str],
    *,
    own: NDArray[np.int64] | None = None,
    dealt: Dealt | None = None,
    threads: int = 1,
) -> Profile:
    """Go through all subsets of the known columns.

    ``own`` is the published row of every row of ``original``, where values were drawn, and ``dealt`` among which it was
    dealt, where rows were. The result does not depend on the number of threads.
    """
    if not reading.one_each:
        raise ParameterError(ONE_EACH)
    if len(known) > MOST_COLUMNS:
        raise ParameterError(
            f"The P_match attack goes through 2^{len(known)} subsets; it takes at most {MOST_COLUMNS} known columns. "
            f"Name those he knows: {option(known=...)}"
        )
    sensitive = original.schema.sensitive
    boxes = boxes_of(reading, original, known, sensitive)
    codes = np.stack([original[name].codes for name in known], axis=1).astype(np.int64)
    mine = reading.own_fits(known, original, own) if dealt is None else None
    if mine is None:
        mine = np.ones(codes.shape, dtype=bool)
    cells = codes[:0] if dealt is None else row_codes(reading, known, original)
    secrets = {
        n: (boxes.buckets(original[n]), original[n].codes.astype(np.int64), boxes.laws.get(n)) for n in sensitive
    }
    how = _Equal(boxes, codes, original, known) if boxes.exact is not None else _Covering(boxes, codes, original, known)

    def of_size(size: int) -> tuple[Floats, Floats, dict[str, tuple[Floats, Floats]]]:
        identity, matches = np.zeros(original.n_rows), np.zeros(original.n_rows)
        found = {name: (np.zeros(original.n_rows), np.zeros(original.n_rows)) for name in sensitive}
        for subset in combinations(range(len(known)), size):
            fitting, per_secret = how.fit(subset, secrets)
            columns = list(subset)
            chance: NDArray[Any] = np.asarray(mine[:, columns].all(axis=1))
            if dealt is not None:
                chance = dealt.chance(cells[:, columns], codes[:, columns])
            present = (chance > 0) & (fitting > 0)
            identity[present] += chance[present] / fitting[present]
            matches += fitting
            for name, (probability, hit) in per_secret.items():
                found[name][0][:] += probability
                found[name][1][:] += hit
        return identity, matches, found

    with ThreadPoolExecutor(threads) as pool:
        sizes = list(pool.map(of_size, range(len(known) + 1)))
    return Profile(
        np.stack([identity for identity, _, _ in sizes], axis=1),
        np.stack([matches for _, matches, _ in sizes], axis=1),
        {name: np.stack([found[name][0] for _, _, found in sizes], axis=1) for name in sensitive},
        {name: np.stack([found[name][1] for _, _, found in sizes], axis=1) for name in sensitive},
    )


# What boxes say of one sensitive column, (n_rows,) the true codes, and the law by which it says so.
_Secret = tuple[Buckets, NDArray[np.int64], Law | None]
Fit = tuple[NDArray[np.int64], dict[str, tuple[Floats, Floats]]]


def _by_label(labels: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Rows, label by label; numbers of one or two bytes are sorted by counting, many times as fast."""
    return np.argsort(labels.astype(np.min_scalar_type(count)), kind="stable")


class _Equal:
    """Every cell is a single value: rows are compared by keys."""

    def __init__(self, boxes: Boxes, codes: NDArray[np.int64], original: Table, known: Sequence[str]) -> None:
        assert boxes.exact is not None
        self.boxes, self.n_boxes = boxes, len(boxes.weights)
        both = np.concatenate([boxes.exact, codes])
        self.columns = [
            Written(np.ascontiguousarray(both[:, j]), pa.nulls(original[name].domain.size + 1))
            for j, name in enumerate(known)
        ]

    def fit(self, subset: Sequence[int], secrets: Mapping[str, _Secret]) -> Fit:
        if subset:
            found_labels, count = combine([self.columns[j] for j in subset])
            labels = found_labels.astype(np.int64)
        else:
            labels, count = np.zeros(len(self.columns[0].codes), dtype=np.int64), 1
        of_box, of_row = labels[: self.n_boxes], labels[self.n_boxes :]
        matches = np.bincount(of_box, self.boxes.weights, minlength=count).astype(np.int64)
        members = _by_label(of_box, count)
        offsets = np.concatenate([[0], np.cumsum(np.bincount(of_box, minlength=count))])
        order = _by_label(of_row, count)
        found = {}
        for name, (buckets, truth, law) in secrets.items():
            probability, hit = posteriors(law, offsets, members, buckets, of_row[order], truth[order])
            found[name] = np.empty(len(order)), np.empty(len(order))
            found[name][0][order], found[name][1][order] = probability, hit
        return matches[of_row], found


class _Covering:
    """Cells stand for several values: rows are compared by bitmaps of the boxes that cover a value."""

    def __init__(self, boxes: Boxes, codes: NDArray[np.int64], original: Table, known: Sequence[str]) -> None:
        from undercover.forms.kernels import index_boxes

        self.boxes, self.codes = boxes, codes
        self.bitmaps, _ = index_boxes(boxes.masks, boxes.word_starts, boxes.value_starts, 0, len(boxes.weights))
        self.columns = [
            Written(np.ascontiguousarray(codes[:, j]), pa.nulls(original[name].domain.size))
            for j, name in enumerate(known)
        ]

    def fit(self, subset: Sequence[int], secrets: Mapping[str, _Secret]) -> Fit:
        from undercover.attacks.partial.kernels import covering_posteriors

        n, n_buckets, bucket_of = len(self.codes), int(self.boxes.bucket_of.max()) + 1, self.boxes.bucket_of
        target_of = combine([self.columns[j] for j in subset])[0].astype(np.int64) if subset else np.zeros(n, np.int64)
        order = np.argsort(target_of, kind="stable")
        columns = np.array(subset, dtype=np.int64)
        weights, starts = self.boxes.weights.astype(np.float64), np.zeros(n_buckets + 1, dtype=np.int64)
        nothing = Buckets(weights, bucket_of, starts, starts[:0], np.zeros(0), np.zeros(n_buckets), 1)
        found, matches = {}, np.zeros(n, dtype=np.int64)
        for name, (buckets, truth, _) in (secrets or {"": (nothing, np.zeros(n, dtype=np.int64), None)}).items():
            shares = buckets.counts / np.repeat(buckets.sizes, np.diff(buckets.starts))
            matches, probability, hit = covering_posteriors(
                self.bitmaps, self.boxes.value_starts, columns, self.codes, buckets, shares, order, target_of, truth
            )
            found[name] = probability, hit
        return matches, found if secrets else {}
