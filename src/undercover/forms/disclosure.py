"""What somebody achieves on every person: from the boxes that fit, listed or counted.

With m matching rows the person is any of them with probability 1/m; a sensitive value is as probable as it is frequent
among them, or where values were dealt anew as their law says (:mod:`undercover.forms.dealt.law`). Where boxes are so
wide that people and the boxes that fit them cannot be listed, they are counted: exactly, but for the best guess, which
is then looked at for a part of the people.

Groups that were drawn at random (the streamliner's wrap, for one) have cells that cover a large part of the table, and
a person fits thousands of them. How many rows fit, and how many of these show the true value, is then counted over
bitmaps (:mod:`undercover.forms.kernels`), exactly and for everybody. The most frequent value among the rows that
fit needs the whole distribution, which is looked at for a part of the people only, drawn with a fixed seed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from undercover.forms.boxes import Boxes, index_of, match, value_codes
from undercover.forms.dealt.law import Law, posteriors
from undercover.forms.distribution import Distribution
from undercover.forms.written import first_rows
from undercover.model.groups import number
from undercover.model.table import EncodedColumn, Table
from undercover.model.verdict import among_values
from undercover.threads import parallel

MISSING = ""  # how a missing value is written
AT_RISK = 0.2  # the threshold commonly used by statistics offices and health data holders
_LEAST_GUESSED = 1000  # people whose whole distribution is looked at, where boxes are too wide for everybody's


@dataclass(frozen=True)
class Disclosure:
    """What the attacker achieves on every row.

    A missing value is no value. Of a row that has one, what is believed and guessed is asked among those that have one;
    of a row without, ``attribute`` is the belief that it is missing. Figures are about rows that have a value.
    """

    matches: NDArray[Any]  # (n_rows,) published rows that fit; with p_match the expected number
    attribute: Mapping[str, NDArray[np.float64]]  # probability he gives the true value
    hits: Mapping[str, NDArray[np.float64]]  # probability that his guess is right; NaN where it was not looked at
    found: NDArray[np.float64] | None = None  # identity, where it is not simply one of the rows that fit
    lacking: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)  # whose value is missing, where one is

    @property
    def identity(self) -> NDArray[np.float64]:
        """Probability of picking the person's own row; 0 where nothing fits."""
        if self.found is not None:
            return self.found
        matches: NDArray[np.float64] = self.matches.astype(np.float64)
        return np.divide(1.0, matches, out=np.zeros(len(matches)), where=matches > 0)

    def of_rows(self, rows: slice) -> Disclosure:
        """The same of some rows."""
        found = None if self.found is None else self.found[rows]
        attribute, hits = ({name: each[rows] for name, each in some.items()} for some in (self.attribute, self.hits))
        lacking = {name: each[rows] for name, each in self.lacking.items()}
        return Disclosure(self.matches[rows], attribute, hits, found, lacking)

    def of_values(self, name: str, found: NDArray[np.float64]) -> NDArray[np.float64]:
        """Figures of the rows that have a value of a column; where none has, of nobody: 0."""
        lacking = self.lacking.get(name)
        return found if lacking is None else np.zeros(1) if lacking.all() else found[~lacking]

    def to_dict(self, of: int | None = None) -> dict[str, Any]:
        """Means and worst cases; where these people were drawn from ``of``, with intervals, and counts as estimates."""
        identity, sampled = self.identity, of is not None
        times = 1.0 if of is None else of / len(identity)
        return {
            "identity": {
                **mean_with_interval(identity, sampled=sampled),
                "max": float(identity.max()),
                "at_risk_share": float((identity > AT_RISK).mean()),
                "unique_rows": round(times * int((identity > 1.0 - 1e-12).sum())),
            },
            "attribute": {
                name: {
                    **mean_with_interval(probability, sampled=sampled),
                    "max": float(probability.max()),
                    **_success(self.of_values(name, self.hits[name]), sampled=sampled),
                    "certain_rows": round(times * int((probability > 1.0 - 1e-12).sum())),
                    **({"missing_rows": round(times * int(self.lacking[name].sum()))} if name in self.lacking else {}),
                }
                for name, probability in ((name, self.of_values(name, each)) for name, each in self.attribute.items())
            },
        }


@dataclass(frozen=True)
class AtMost:
    """What is reached on nobody more than this, whoever is looked for; ``None`` where no bound is at hand."""

    found: float | None = None
    belief: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, boxes: Boxes) -> AtMost:
        """Where everybody's own box is among those that fit.

        No fewer rows fit than the smallest box has. A value's share of all that fit is a mean of its shares of the
        boxes, so no more than the greatest.
        """
        found = cls.of_classes(boxes.weights, boxes.sensitive)
        laws = {name: _law_at_most(law, boxes.sensitive[name].labels) for name, law in boxes.laws.items()}
        return cls(found.found, {**found.belief, **laws})

    @classmethod
    def of_classes(cls, sizes: NDArray[np.int64], sensitive: Mapping[str, Distribution]) -> AtMost:
        """The same from the rows that are written alike, and the values of each class or bucket."""
        belief = {name: _largest_share(held) for name, held in sensitive.items()}
        return cls(1 / float(sizes.min()) if len(sizes) else None, belief)


def _largest_share(held: Distribution) -> float:
    """The largest share of a value among the values of a class; where some are missing, among the others."""
    if MISSING not in held.labels:
        return float((held.largest / held.sizes).max(initial=0.0))
    counts = np.where(held.value_index == held.labels.index(MISSING), 0, held.counts)
    sizes, there = held.sums(counts), np.flatnonzero(held.distinct)
    largest = np.zeros(held.n_classes, dtype=np.int64)
    largest[there] = np.maximum.reduceat(counts, held.starts[there]) if len(there) else 0
    return float((largest / np.maximum(sizes, 1)).max(initial=0.0))


def _law_at_most(law: Law, labels: Sequence[str]) -> float:
    """What a law allows to be believed of any value; that a value is missing is believed no more than that."""
    return law.most if MISSING not in labels or law.most >= 1 else min(law.most / (1 - law.most), 1.0)


def _success(hits: NDArray[np.float64], *, sampled: bool = False) -> dict[str, Any]:
    """How often a guess is right; where only some people were looked at, how many and between which bounds (95%)."""
    looked_at = hits[~np.isnan(hits)]
    found = mean_with_interval(looked_at, sampled=sampled or len(looked_at) < len(hits))
    return {f"guess_{'success' if name == 'mean' else name}": value for name, value in found.items()}


def mean_with_interval(found: NDArray[np.float64], *, sampled: bool) -> dict[str, Any]:
    """The mean over people; of a sample also of how many, and between which bounds (95%) that of all lies.

    What only one in n / 3 people have, a sample of n misses with 5%: bounds are never nearer than that.
    """
    mean = float(found.mean())
    if not sampled:
        return {"mean": mean}
    spread = max(1.96 * float(found.std(ddof=1)) / math.sqrt(len(found)), 3 / len(found))
    return {"mean": mean, "sample": len(found), "interval": [max(0.0, mean - spread), min(1.0, mean + spread)]}


def distinct_rows(codes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number the distinct rows: (number of each row, the distinct rows)."""
    keys = codes[:, 0]
    for j in range(1, codes.shape[1]):
        keys, _ = number(keys * (int(codes[:, j].max()) + 1) + codes[:, j])
    keys, count = number(keys)
    return keys, codes[first_rows(keys, count)]


def disclosure_of(
    boxes: Boxes, original: Table, target_of: NDArray[np.int64], targets: NDArray[np.int64], threads: int
) -> Disclosure:
    """What somebody achieves who takes a person to be any of the rows that fit, or the rows by their law."""
    pairs = pairs_expected(boxes, targets)
    most = MOST_PAIRS if len(boxes.weights) < MANY_BOXES else MOST_PAIRS_OF_MANY
    if boxes.laws or pairs <= most or not can_be_counted(boxes):
        return _listed(boxes, original, target_of, targets, threads)
    names: list[str | None] = [*boxes.sensitive] or [None]
    counted = [counted_matches(boxes, targets, target_of, None if n is None else original[n], threads) for n in names]
    matches = counted[0][0]
    attribute = {n: found for n, (_, found) in zip(names, counted, strict=True) if n is not None}
    for name, believed in attribute.items():
        column = original[name]
        if (missing := column.domain.missing_code) is not None:
            nothing = replace(column, codes=np.full_like(column.codes, missing))
            lost = counted_matches(boxes, targets, target_of, nothing, threads)[1]
            attribute[name] = np.where(column.codes == missing, believed, among_values(believed, lost))
    # Who is guessed is looked at for some people only: rows, not targets, so that everybody is as likely to be among.
    some = max(_LEAST_GUESSED, int(most / 10 / pairs * len(targets)))
    rows = np.sort(np.random.default_rng(0).permutation(original.n_rows)[:some])
    chosen, position = np.unique(target_of[rows], return_inverse=True)
    guessed = _listed(boxes, original, position.reshape(-1), targets[chosen], threads, rows=rows)
    hits = {name: np.full(original.n_rows, np.nan) for name in boxes.sensitive}
    for name, found in guessed.hits.items():
        hits[name][rows] = found
    return Disclosure(matches[target_of], attribute, hits)


def _listed(
    boxes: Boxes,
    original: Table,
    target_of: NDArray[np.int64],
    targets: NDArray[np.int64],
    threads: int,
    *,
    rows: NDArray[np.int64] | None = None,
) -> Disclosure:
    """From a list of all boxes that fit; ``rows`` are the rows ``target_of`` is about, by default all."""
    offsets, members = match(boxes, targets, threads)
    running = np.concatenate([[0], np.cumsum(boxes.weights[members])])
    matches = running[offsets[1:]] - running[offsets[:-1]]
    order = np.argsort(target_of, kind="stable")
    attribute, hits = {}, {}
    for name in boxes.sensitive:
        truth = original[name].codes if rows is None else original[name].codes[rows]
        held, asked = boxes.buckets(original[name]), truth[order].astype(np.int64)
        law, missing = boxes.laws.get(name), original[name].domain.missing_code
        probability, hit = posteriors(law, offsets, members, held, target_of[order], asked, missing)
        attribute[name], hits[name] = np.empty(len(order)), np.empty(len(order))
        attribute[name][order], hits[name][order] = probability, hit
    return Disclosure(matches[target_of], attribute, hits)


Integers = NDArray[np.int64]
MOST_PAIRS = 100_000_000  # of a person and a box that fits; beyond, they are counted and not listed
MANY_BOXES, MOST_PAIRS_OF_MANY = 100_000, 5_000_000  # of so many boxes counting takes less time much sooner
_PROBED = 256
_MOST_WORDS = 1 << 25  # of bitmaps, 8 bytes each


class Weights(NamedTuple):
    """Weights of boxes by number.

    Number 0 is that of the boxes beyond the least weight, which all have; number v + 1 is that of the sensitive value v
    in them. Number s has the planes ``plane_starts[s]:plane_starts[s + 1]``, or where it has none the boxes
    ``listed[list_starts[s]:list_starts[s + 1]]`` with their weights.
    """

    planes: NDArray[np.uint64]
    plane_starts: Integers
    list_starts: Integers
    listed: Integers
    listed_weights: Integers


def pairs_expected(boxes: Boxes, targets: Integers) -> float:
    """About how many boxes fit all targets together, from a few of them."""
    if boxes.exact is not None:
        return float(len(boxes.weights) + len(targets))
    chosen = np.random.default_rng(0).permutation(len(targets))[:_PROBED]
    offsets, _ = match(boxes, targets[chosen], 1)
    return float(offsets[-1]) / len(chosen) * len(targets)


def can_be_counted(boxes: Boxes) -> bool:
    """Whether every box is its own bucket, in parts of one size, and the bitmaps of all boxes can be held."""
    words = -(-len(boxes.weights) // 64) * int(boxes.value_starts[-1])
    own = bool((boxes.bucket_of == np.arange(len(boxes.weights))).all())
    return own and words <= _MOST_WORDS and all(_parts(boxes, column) for column in boxes.sensitive.values())


def counted_matches(
    boxes: Boxes, targets: Integers, target_of: Integers, sensitive: EncodedColumn | None, threads: int
) -> tuple[Integers, NDArray[np.float64]]:
    """(n_targets,) rows that fit each target, and (n_rows,) the share of them with the row's true value.

    Of boxes for which :func:`can_be_counted` holds. ``targets`` are (n_targets, n_columns) codes, ``target_of`` the
    target of each row; without a ``sensitive`` column all shares are 0.
    """
    from undercover.forms.kernels import weigh_covering

    n = len(targets)
    fewest_first = np.argsort([len(np.unique(column)) for column in targets.T], kind="stable")
    sorting = np.lexsort(targets[:, fewest_first].T[::-1])
    rank = np.empty(n, dtype=np.int64)
    rank[sorting] = np.arange(n)
    truth = np.zeros(len(target_of), dtype=np.int64) if sensitive is None else sensitive.codes.astype(np.int64)
    order = np.lexsort((truth, rank[target_of]))
    rows_of = np.bincount(rank[target_of], minlength=n) if sensitive is not None else np.zeros(n, dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(rows_of)]).astype(np.int64)
    index = index_of(boxes, 0, len(boxes.weights))
    bitmaps = index.bitmaps
    asked = np.ascontiguousarray((index.lines(targets[sorting]) + index.starts[:-1])[:, fewest_first])
    least = int(boxes.weights.min())
    weights = _weights(boxes, sensitive, least, bitmaps.shape[1])
    ordered = truth[order]

    def part(ends: tuple[int, int]) -> tuple[Integers, Integers]:
        first, last = ends
        rows = starts[first : last + 1]
        found: tuple[Integers, Integers] = weigh_covering(
            bitmaps,
            asked[first:last],
            rows - rows[0],
            ordered[rows[0] : rows[-1]],
            least,
            weights,
        )
        return found

    cuts = np.linspace(0, n, 4 * threads + 1).astype(np.int64).tolist()
    found = parallel(part, list(pairwise(cuts)), threads, steps=targets.size * bitmaps.shape[1])
    matches = np.concatenate([totals for totals, _ in found])[rank]
    if sensitive is None:
        return matches, np.zeros(len(target_of))
    true = np.empty(len(order), dtype=np.int64)
    true[order] = np.concatenate([shown for _, shown in found])
    rows = matches[target_of] * _parts(boxes, boxes.sensitive[sensitive.name])
    return matches, np.divide(true, rows, out=np.zeros(len(true)), where=rows > 0)


def _parts(boxes: Boxes, column: Distribution) -> int:
    """Into how many parts each row of a box is counted among its sensitive values; 0 where boxes differ."""
    sizes = column.sizes
    if len(sizes) != len(boxes.weights) or not len(sizes):
        return 0
    parts = int(sizes[0] // boxes.weights[0])
    return parts if bool((sizes == parts * boxes.weights).all()) else 0


def _weights(boxes: Boxes, sensitive: EncodedColumn | None, least: int, n_words: int) -> Weights:
    """Of the boxes beyond ``least``, and of every value: planes for what is in many boxes, lists for what is in few."""
    from undercover.forms.kernels import bit_planes

    numbered: list[tuple[Integers, Integers]] = [(np.arange(len(boxes.weights)), boxes.weights - least)]
    if sensitive is not None:
        column = boxes.sensitive[sensitive.name]
        codes, n_values = value_codes(column.labels, sensitive)
        values = codes[column.value_index]
        order = np.argsort(values, kind="stable")
        ends = np.searchsorted(values[order], np.arange(n_values + 1))
        for low, high in pairwise(ends):
            entries = order[low:high]
            numbered.append((column.class_index[entries].astype(np.int64), column.counts[entries].astype(np.int64)))
    planes, plane_starts, listed, listed_weights, list_starts = [np.zeros((0, n_words), np.uint64)], [0], [], [], [0]
    for boxes_of, counts_of in numbered:
        inside, counts = boxes_of[counts_of > 0], counts_of[counts_of > 0]
        n_planes = int(counts.max(initial=0)).bit_length()
        if len(inside) > n_planes * n_words:
            planes.append(bit_planes(inside, counts, n_planes, n_words))
            plane_starts.append(plane_starts[-1] + n_planes)
            list_starts.append(list_starts[-1])
        else:
            listed.append(inside)
            listed_weights.append(counts)
            plane_starts.append(plane_starts[-1])
            list_starts.append(list_starts[-1] + len(inside))
    none = np.zeros(0, dtype=np.int64)
    return Weights(
        np.concatenate(planes),
        np.array(plane_starts),
        np.array(list_starts),
        np.concatenate([none, *listed]),
        np.concatenate([none, *listed_weights]),
    )
