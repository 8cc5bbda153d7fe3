"""Partial knowledge: what an attacker achieves who knows each column of a person with some probability only.

The attacker of :mod:`undercover.attacks.partial.profile` (Li, Wang & He, "Privacy-Preserving Data Publishing via Mutual
Cover", Section 5.1), before any release and before the original as it is: a neighbour knows age and sex, hardly ever
the education. As there, all subsets of the columns are gone through, each by its weight.

Deviations: in a large table not everybody is attacked but so many people, chosen once and for all by their place
alone, that the work stays bounded; means then come with a 95% interval, and the worst is that of the people attacked.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from undercover.attacks.views import partial_view
from undercover.errors import ParameterError
from undercover.forms.boxes import Boxes, value_codes
from undercover.forms.case import Case
from undercover.forms.reading import Reading
from undercover.model.protocols import Effort, Progress, no_progress
from undercover.model.table import Table
from undercover.model.verdict import Exposure
from undercover.model.view import View, Viewable
from undercover.randomness import Randomness

STORY = (
    "The attacker knows that a person is in the table, and of the columns {known} each with probability P only. He "
    "looks for the published rows that fit what he knows, takes the person to be any of them with equal probability, "
    "and gives every sensitive value its share among them. What he achieves is averaged over all he may know."
)
PROBABILITIES = (0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 1.0)
MOST_COLUMNS = 10
MOST_PAIRS = 60_000_000  # of an attacked person and a row of the table
_FEWEST = 500
_NORMAL = 1.959963984540054  # 97.5% of a normal distribution lie below

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PartialKnowledgeResult(Viewable):
    """What is reached for several P, with the release and with the original as it is."""

    known: tuple[str, ...]
    people: int
    everybody: bool  # whether everybody was attacked
    drawn: bool  # whether quasi-identifiers of the release were drawn
    baseline: Mapping[str, Any]
    sweep: tuple[Mapping[str, Any], ...]
    sweep_before: tuple[Mapping[str, Any], ...]
    told: str = ""  # what else there is to say of the attacker

    @property
    def story(self) -> str:
        """What the attacker knows and does."""
        return STORY.format(known=", ".join(f"`{name}`" for name in self.known)) + self.told

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON-able values."""
        return {
            "attack": "p-match",
            "story": self.story,
            "known": list(self.known),
            "targets": self.people,
            "everybody": self.everybody,
            "drawn": self.drawn,
            "baseline": dict(self.baseline),
            "sweep": [dict(entry) for entry in self.sweep],
            "sweep_before": [dict(entry) for entry in self.sweep_before],
            **({"told": self.told} if self.told else {}),
        }

    def exposures(self) -> tuple[Exposure, ...]:
        """How often he is right at the best P, where values were drawn; else linkage knows more."""
        if not self.drawn:
            return ()
        best = max((entry["identity"] for entry in self.sweep), key=lambda found: float(found["mean"]))
        ends = (best["low"], best["high"]) if "low" in best else None
        return (Exposure("p-match", np.empty(0, np.int64), rate=best["mean"], interval=ends),)

    def view(self) -> View:
        """What it shows."""
        return partial_view(self.to_dict())

    def __repr__(self) -> str:
        return f"<Partial knowledge on {self.people:,} people, for {len(self.sweep)} P; .to_dict() has everything>"


@dataclass(frozen=True, kw_only=True)
class PartialKnowledge:
    """An attacker who knows each column of a person with probability P, for several P.

    Parameters
    ----------
    known
        The columns he may know; by default every quasi-identifier and every insensitive column.
    pairs
        How many pairs of an attacked person and a row of the table may be compared; bounds how many are attacked.

    Examples
    --------
    >>> import undercover as uc
    >>> people, schema = uc.datasets.census(1000, seed=1), uc.datasets.census_schema(["age", "sex", "education"])
    >>> run = uc.publish(people, schema, uc.Mondrian(k=10))
    >>> found = uc.attack(run, PartialKnowledge())
    >>> found.people, found.sweep[-1]["identity"]["max"] <= 1 / 10
    (1000, True)
    >>> found.sweep_before[0]["identity"]["mean"] < found.sweep_before[-1]["identity"]["mean"]
    True
    """

    name: ClassVar[str] = "partial-knowledge"
    effort: ClassVar[Effort] = "report"
    slow: ClassVar[bool] = False

    known: tuple[str, ...] | None = None
    pairs: int = MOST_PAIRS

    def applies(self, case: Case) -> str | None:
        """There are few enough columns, and rows that stand for one person each."""
        known = len(case.known(self.known))
        if known > MOST_COLUMNS or not case.reading.one_each:
            return (
                f"Partial knowledge takes at most {MOST_COLUMNS} known columns, and a release in which a row stands "
                f"for one person. Got {known} columns of {case.release.method}."
            )
        return None

    def run(self, case: Case, *, progress: Progress = no_progress) -> PartialKnowledgeResult:
        """Attack the people of the original through the release and through the original itself."""
        why_not = self.applies(case)
        if why_not is not None:
            raise ParameterError(why_not)
        original, known = case.original, case.known(self.known)
        people = attacked(original.n_rows, self.pairs)
        always = Own(np.full(len(people), (1 << len(known)) - 1), np.arange(len(people) + 1))
        sides = [
            _sums(original, reading, known, people, mine, case.threads)
            for reading, mine in ((case.reading, _own(case, known, people) or always), (case.raw, always))
        ]
        sweep, sweep_before = (
            tuple(_at(p, identity, attribute, original.n_rows) for p in PROBABILITIES) for identity, attribute in sides
        )
        everybody, drawn = len(people) == original.n_rows, not case.reading.covers
        told = (case.reading.story if case.reading.permuted else "") + case.by_rows
        return PartialKnowledgeResult(known, len(people), everybody, drawn, case.baseline(), sweep, sweep_before, told)


def attacked(n_rows: int, pairs: int = MOST_PAIRS) -> NDArray[np.int64]:
    """Who is attacked: everybody, or as many as ``pairs`` allows, in the order of the table."""
    most = max(_FEWEST, pairs // max(n_rows, 1))
    if most >= n_rows:
        return np.arange(n_rows)
    order = Randomness(0).words("attacked", n_rows).argsort(kind="stable")
    return np.sort(order[:most])


def _sums(
    original: Table,
    reading: Reading,
    known: Sequence[str],
    people: NDArray[np.int64],
    own: Own,
    threads: int,
) -> tuple[Floats, dict[str, Floats]]:
    """(m, d + 1) chances of the own row, and of each true value, summed over the subsets of each size."""
    boxes = reading.boxes(known, original)
    codes = np.stack([original[name].codes[people] for name in known], axis=1).astype(np.int64)
    sensitive = original.schema.sensitive
    if not sensitive:
        return _side(boxes, codes, own, np.zeros(len(people), np.int64), _nothing(boxes), threads)[0], {}
    attribute = {}
    identity = np.zeros((0, 0))
    for name in sensitive:
        truth = original[name].codes[people].astype(np.int64)
        identity, attribute[name] = _side(boxes, codes, own, truth, _entries(boxes, original, name), threads)
        if name in boxes.laws:
            law, (spread, scale) = boxes.laws[name], _spread(boxes, original, name)
            _, seen = _side(boxes, codes, own, np.zeros(len(people), np.int64), spread, threads)
            found = law.base[truth, None] * seen / scale + law.slope[truth, None] * attribute[name]
            subsets = [math.comb(len(known), size) for size in range(len(known) + 1)]
            attribute[name] = np.minimum(found, law.most * np.array(subsets))
    return identity, attribute


class Own(NamedTuple):
    """The columns in which the rows fit that may be a person's own, as bits, person by person."""

    bits: NDArray[Any]
    starts: NDArray[np.int64]  # (m + 1,)


def _own(case: Case, known: Sequence[str], people: NDArray[np.int64]) -> Own | None:
    """The row the run says, or where rows were dealt those it was dealt among; ``None`` where it always fits."""
    if case.dealt is not None:
        return Own(*case.dealt.columns_that_fit(case.reading, known, case.original, people))
    fits = case.reading.own_fits(known, case.original, case.own, people)
    if fits is None:
        return None
    return Own(fits.astype(np.int64) @ (1 << np.arange(len(known))), np.arange(len(people) + 1))


class Entries(NamedTuple):
    """By sensitive value: the buckets that hold it, and its share of each."""

    starts: NDArray[np.int64]
    buckets: NDArray[np.int64]
    shares: Floats
    n_buckets: int


def _entries(boxes: Boxes, original: Table, name: str) -> Entries:
    """By sensitive value, the buckets that hold it and its share of each."""
    found = boxes.sensitive[name]
    codes, n_values = value_codes(found.labels, original[name])
    value = codes[found.value_index]
    order = np.argsort(value, kind="stable")
    starts = np.searchsorted(value[order], np.arange(n_values + 1))
    shares = found.counts / found.sizes[found.class_index]
    return Entries(starts, found.class_index[order].astype(np.int64), shares[order], len(found.sizes))


def _spread(boxes: Boxes, original: Table, name: str) -> tuple[Entries, float]:
    """What a law asks of all rows of a bucket, as the share of one value in it; scaled so that it is a share."""
    found, law = boxes.sensitive[name], boxes.laws[name]
    codes, _ = value_codes(found.labels, original[name])
    scale = 1 / max(1.0, float(law.spread.max()))
    parts = found.counts * law.spread[codes[found.value_index]] * scale
    every = np.arange(len(found.sizes))
    shares = np.bincount(found.class_index, weights=parts, minlength=len(every)) / found.sizes
    return Entries(np.array([0, len(every)]), every, shares, len(every)), scale


def _nothing(boxes: Boxes) -> Entries:
    n_buckets = int(boxes.bucket_of.max(initial=0)) + 1
    return Entries(np.zeros(2, np.int64), np.zeros(0, np.int64), np.zeros(0), n_buckets)


def _side(
    boxes: Boxes,
    codes: NDArray[np.int64],
    own: Own,
    truth: NDArray[np.int64],
    entries: Entries,
    threads: int,
) -> tuple[Floats, Floats]:
    from undercover.attacks.partial.kernels import Covered, subset_sums

    exact = boxes.exact is not None
    narrow = np.uint16 if int(np.diff(boxes.value_starts).max()) < 1 << 16 else np.int32
    cells = (np.zeros((1, 1), np.int64) if boxes.exact is None else boxes.exact.T).astype(narrow, order="C")
    order = np.argsort(truth, kind="stable")
    parts = [part for part in np.array_split(order, threads) if len(part)]
    weights, bucket_of = boxes.weights.astype(np.float64), boxes.bucket_of.astype(np.int32)
    covered = Covered(cells, boxes.masks, boxes.word_starts, exact, weights, bucket_of)

    times, bits = np.diff(own.starts), own.bits.astype(np.uint16)

    def attack(part: NDArray[np.int64]) -> Any:
        ends = np.cumsum(times[part])
        mine = bits[np.arange(ends[-1]) - np.repeat(ends - times[part] - own.starts[part], times[part])]
        starts = np.concatenate([[0], ends])
        return subset_sums(covered, codes[part].astype(narrow), mine, starts, truth[part], entries)

    with ThreadPoolExecutor(threads) as pool:
        found = list(pool.map(attack, parts))
    back = np.empty(len(order), dtype=np.int64)
    back[order] = np.arange(len(order))
    identity, attribute = (np.concatenate([part[side] for part in found])[back] for side in (0, 1))
    return identity, attribute


def _at(p: float, identity: Floats, attribute: Mapping[str, Floats], n_rows: int) -> dict[str, Any]:
    """The figures at one P."""
    d = identity.shape[1] - 1
    weights = np.array([p**size * (1 - p) ** (d - size) for size in range(d + 1)])
    return {
        "p": p,
        "identity": _figures(identity @ weights, n_rows),
        "attribute": {name: _figures(sums @ weights, n_rows) for name, sums in attribute.items()},
    }


def _figures(values: Floats, n_rows: int) -> dict[str, Any]:
    mean, m = float(values.mean()), len(values)
    found: dict[str, Any] = {"mean": mean, "max": float(values.max())}
    if m < n_rows:
        half = _NORMAL * float(values.std(ddof=1)) * np.sqrt((n_rows - m) / ((n_rows - 1) * m))
        found |= {"low": max(0.0, mean - half), "high": min(1.0, mean + half)}
    return found
