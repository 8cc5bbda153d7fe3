"""The informed adversary of mutual cover: he knows everything but the draws.

He knows everybody's quasi-identifiers, the groups, the random output tables, how unchanged rows were dealt with, and
which published rows are those of a person's group. What is left to chance is what was drawn: who of the group released
which row. Given the rows, an assignment of rows to people is as probable as the product of its draws, and a person owns
a row with the total probability of the assignments in which he does.

The paper (Li, Wang & He, "Privacy-Preserving Data Publishing via Mutual Cover") has no such adversary: its protection
rests on groups and tables being hidden. He is told more than anybody outside can work out, so his figures are an upper
bound for all who know less. They are exact wherever ``exact_share`` says so; for groups with too many possible
assignments they are the Bethe approximation of :mod:`undercover.methods.mutual_cover.kernels.likelihood`, and in
groups of more than 5,000 people those of somebody who looks at one person at a time and forgets that every row has one
owner.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from undercover.arrays import look_up
from undercover.errors import DataError
from undercover.forms.case import Case
from undercover.forms.reading import Reading
from undercover.forms.written import written
from undercover.methods.mutual_cover.kernels import Tables
from undercover.model.distance.between import FLAT, MATRIX, NUMERIC, ValueDistance
from undercover.model.protocols import Effort, Progress, no_progress
from undercover.model.table import Table
from undercover.model.verdict import Exposure
from undercover.model.view import Part, View, Viewable, certainty, facts, listed, say, table
from undercover.parameters import Within, check
from undercover.threads import parallel

FRAME = "output_tables"
WORST = 20
MOST_SETS = 20_000
MOST_ASKED = 1_000_000_000  # sets that may be asked for: more than any memory holds
_CHUNKS_PER_THREAD = 16

STORY = (
    "The attacker knows everybody's values in {known}, who was put together with whom, the output tables and which "
    "published rows are those of a person's group; he does not know what was drawn. For every row of the group he "
    "works out how probable it is that it is the person's. Nobody outside knows as much: this is the worst case."
)
KEEP = (
    "Such an adversary does not need the release to be badly made: as long as most values stay near their own, who "
    "knows the tables can sort most rows. Keep groups, tables and seed as you keep the original."
)
_KNOWS = "the groups and the output tables, not what was drawn"
_EXACT = (
    "Exact for {baseline} of the people; for the others, whose groups allow too many assignments, it is an "
    "approximation."
)

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class InformedResult(Viewable):
    """What the informed adversary believes of everybody."""

    who = "an attacker who knows groups and tables"

    known: tuple[str, ...]
    rows: NDArray[np.int64]  # input row of each target
    identity: Floats  # probability of the person's own row
    best: Floats  # whether that is the most probable one; shared among equals
    attribute: Floats  # probability of the true sensitive value
    hits: Floats
    exact: NDArray[np.bool_]
    sizes: NDArray[np.int64]  # of the person's group
    shares: Floats  # of the true sensitive value in the group
    sensitive: str

    @property
    def story(self) -> str:
        """What the attacker knows and does."""
        return STORY.format(known=", ".join(f"`{name}`" for name in self.known))

    def exposures(self) -> tuple[Exposure, ...]:
        """Everybody's row and value, by what was drawn from."""
        return (Exposure("informed", self.rows, self.identity, {self.sensitive: self.attribute}),)

    def worst_rows(self, limit: int = WORST) -> list[dict[str, Any]]:
        """The people he is surest of; for the holder's eyes only."""
        order = np.lexsort((self.rows, -self.attribute, -self.identity))[:limit]
        return [
            {
                "row": int(self.rows[i]),
                "identity": float(self.identity[i]),
                "attribute": float(self.attribute[i]),
                "group_size": int(self.sizes[i]),
            }
            for i in order
        ]

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON-able values; ``worst_rows`` makes it private."""
        return {
            "attack": "informed",
            "story": self.story,
            "known": list(self.known),
            "targets": len(self.rows),
            "identity": _figures(self.identity, self.best),
            "attribute": _figures(self.attribute, self.hits),
            "believed": {
                self.sensitive: {"mean": float(self.attribute.mean()), "max": float(self.attribute.max())},
            },
            "baseline": {"identity": float((1.0 / self.sizes).mean()), "attribute": float(self.shares.mean())},
            "exact_share": float(self.exact.mean()),
            "worst_rows": self.worst_rows(),
        }

    def view(self) -> View:
        """What it shows."""
        found = self.to_dict()
        named = (("finds the person's row", "identity"), ("knows the sensitive value", "attribute"))
        keys = ("mean", "max", "guess_success", "certain_rows")
        rows = [(label, *(found[of][key] for key in keys), found["baseline"][of]) for label, of in named]
        columns = ("the attacker", "mean", "worst", "best guess right", "certain of", "guessing in the group")
        keys, fields = ("row", "group_size", "identity", "attribute"), ("input row", "group size", "found", "value")
        worst = [[row[key] for key in keys] for row in found["worst_rows"][:5]]
        title = "Rows he learns most about (private)"
        parts: list[Part] = [
            facts(("people", found["targets"]), ("known of each", f"{listed(found['known'])}; {_KNOWS}")),
            table(columns, "plain risk risk risk count baseline", rows),
            KEEP,
            table(fields, "count count risk risk", worst, title, private=True, detail=1),
        ]
        if found["exact_share"] < 1:
            parts.insert(2, say(_EXACT, found["exact_share"]))
        verdict = certainty(max(found["identity"]["max"], found["attribute"]["max"]))
        following = "`.to_dict()` has the numbers, `.story` says what the attacker knows."
        title = "The informed adversary"
        return View("informed", title, tuple(parts), *verdict, found["story"], following, private=True)

    def __repr__(self) -> str:
        return (
            f"<Informed adversary on {len(self.rows):,} people: identity {self.identity.mean():.3f} on average, "
            f"{self.identity.max():.3f} at worst; .to_dict() has everything>"
        )


@dataclass(frozen=True, kw_only=True)
class Informed:
    """An attacker who knows the groups and output tables of mutual cover, and not what was drawn.

    Parameters
    ----------
    most_sets
        How far the exact computation goes before it is given up for a group; see
        :mod:`undercover.methods.mutual_cover.kernels.likelihood`.

    Examples
    --------
    >>> Informed().most_sets
    20000
    """

    name: ClassVar[str] = "informed"
    effort: ClassVar[Effort] = "report"
    slow: ClassVar[bool] = True

    most_sets: Annotated[int, Within(0, MOST_ASKED)] = MOST_SETS

    def __post_init__(self) -> None:
        check(self)

    def applies(self, case: Case) -> str | None:
        """The run keeps the output tables that values were drawn from."""
        if case.run is None or FRAME not in case.run.frames or case.reading.covers or case.own is None:
            return f"The informed adversary needs the private run of mutual-cover, with its `{FRAME}`."
        return None

    def run(self, case: Case, *, progress: Progress = no_progress) -> InformedResult:
        """Attack every row of the original through a run of mutual cover, all of which he knows but the draws."""
        why_not = self.applies(case)
        if why_not is not None or case.run is None or case.own is None:
            raise DataError(why_not or "")
        original, run, own, threads = case.original, case.run, case.own, case.threads
        frame = run.frames[FRAME]
        outputs = written(frame.column("output")).labels
        from undercover.methods.mutual_cover.kernels.likelihood import Beliefs, Seen, group_beliefs
        from undercover.methods.mutual_cover.kernels.sampling import OFF, PAPER, RESAMPLE

        names, groups = original.schema.quasi_identifiers, run.groups
        labels = [_numbering(original, case.reading, outputs, name) for name in names]
        codes = np.stack([original[name].codes for name in names], axis=1).astype(np.int32)
        released = np.stack(
            [_released(case.reading, name, of, own) for name, of in zip(names, labels, strict=True)], axis=1
        )
        tables = _tables(frame, names, labels, groups.count)
        asked = run.release.parameters
        unchanged = {"off": OFF, "paper": PAPER, "resample": RESAMPLE}[str(asked.get("unchanged", "resample"))]
        weights = _spread_weights(original, names, groups.count, tables.row_starts, tables.originals)
        secret = original[original.schema.sensitive[0]].codes.astype(np.int64)
        n = original.n_rows
        beliefs = Beliefs(np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n, np.bool_))
        seen = Seen(groups.offsets, groups.order.astype(np.int64, copy=False), codes, released, secret)
        perturb = int(asked.get("perturb", 1))

        def attack(part: NDArray[np.int64]) -> None:
            group_beliefs(part, seen, tables, weights, unchanged, perturb, self.most_sets, beliefs)

        parallel(attack, np.array_split(np.arange(groups.count), threads * _CHUNKS_PER_THREAD), threads)
        sizes = groups.sizes[groups.labels]
        pairs = groups.labels.astype(np.int64) * (int(secret.max()) + 1) + secret
        _, pair, counts = np.unique(pairs, return_inverse=True, return_counts=True)
        sensitive = original.schema.sensitive[0]
        return InformedResult(names, original.rows, *beliefs, sizes, counts[pair] / sizes, sensitive)


def _figures(believed: Floats, hits: Floats) -> dict[str, Any]:
    certain = int((believed > 1.0 - 1e-9).sum())
    mean, most, right = float(believed.mean()), float(believed.max()), float(hits.mean())
    return {"mean": mean, "max": most, "guess_success": right, "certain_rows": certain}


def _numbering(original: Table, reading: Reading, outputs: Sequence[str], name: str) -> dict[str, int]:
    """A code for every value written anywhere: the original's own first, then those that were only released."""
    place = {label: code for code, label in enumerate(original[name].domain.labels)}
    for label in (*reading.column(name).labels, *outputs):
        place.setdefault(label, len(place))
    return place


def _released(reading: Reading, name: str, place: dict[str, int], own: NDArray[np.int64]) -> NDArray[np.int32]:
    column = reading.column(name)
    return look_up(np.array([place[label] for label in column.labels], dtype=np.int32), column.codes[own])


def _tables(frame: pa.Table, names: tuple[str, ...], labels: list[dict[str, int]], n_groups: int) -> Tables:
    """The private frame as flat arrays; nobody counts the rows of an original value."""
    attribute, original, output = (written(frame.column(name)) for name in ("attribute", "original", "output"))
    a = np.array([names.index(label) for label in attribute.labels], dtype=np.int64)[attribute.codes]
    table = a * n_groups + frame.column("group").to_numpy().astype(np.int64)
    coded = []
    for column in (original, output):
        codes = np.full((len(names), len(column.labels)), -1, dtype=np.int64)
        for j, place in enumerate(labels):
            codes[j] = [place.get(label, -1) for label in column.labels]
        coded.append(codes[a, column.codes])
        if (coded[-1] < 0).any():
            raise DataError(f"The private `{FRAME}` holds values that the original table does not have.")
    widest = 1 + max(int(codes.max()) for codes in coded)
    n_tables = len(names) * n_groups
    lines, line = np.unique(table * widest + coded[0], return_inverse=True)
    columns, column_of = np.unique(table * widest + coded[1], return_inverse=True)
    row_starts, column_starts = (np.searchsorted(keys, np.arange(n_tables + 1) * widest) for keys in (lines, columns))
    widths = np.diff(column_starts)
    cell_starts = np.concatenate([[0], np.cumsum(np.diff(row_starts) * widths)])
    probabilities = np.zeros(cell_starts[-1])
    at = cell_starts[table] + (line - row_starts[table]) * widths[table] + column_of - column_starts[table]
    probabilities[at] = frame.column("probability").to_numpy()
    originals, outputs = (lines % widest).astype(np.int32), (columns % widest).astype(np.int32)
    no_counts = np.zeros(0, np.int32)
    return Tables(row_starts, originals, no_counts, column_starts, outputs, cell_starts, probabilities)


def _spread_weights(
    original: Table, names: tuple[str, ...], n_groups: int, row_starts: NDArray[np.int64], originals: NDArray[np.int32]
) -> Floats:
    """Algorithm 3, line 1: the largest distance within a group over the largest in the table."""
    weights = np.zeros(len(names) * n_groups)
    for a, name in enumerate(names):
        distance = ValueDistance.of(original[name])
        first, last = (row_starts[a * n_groups : (a + 1) * n_groups + 1][part] for part in (slice(-1), slice(1, None)))
        several = last - first > 1
        if distance.kind == NUMERIC:
            spread = distance.scale[originals[last - 1]] - distance.scale[originals[first]]
        elif distance.kind == FLAT:
            spread = several.astype(np.float64)
        elif distance.kind == MATRIX:
            held = [originals[begin:end] for begin, end in zip(first, last, strict=True)]
            spread = np.array([distance.matrix[np.ix_(codes, codes)].max() for codes in held])
        else:
            ends = [
                sorted(originals[begin:end].tolist(), key=lambda code: distance.scale[code])
                for begin, end in zip(first, last, strict=True)
            ]
            spread = np.array([distance.between(codes[0], codes[-1]) for codes in ends])
        weights[a * n_groups : (a + 1) * n_groups] = spread / (distance.widest or 1.0)
    return weights
