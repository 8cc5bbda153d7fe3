"""δ-probability: no record has more than a share δ of the probability of any output value in its group.

Li, Wang & He, "Privacy-Preserving Data Publishing via Mutual Cover", Definition 5: for every output value of a random
output table, max_i p_i / Σ_i p_i ≤ δ. It is a promise about the tables values were drawn from, which are private: a
published table cannot show it.

Checked from the private ``output_tables``: every line is a distribution, and no share exceeds δ by more than one part
in 10^12, the rounding of the table itself. ``actual`` is the largest share.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from undercover.exact import Number, exact, plain
from undercover.forms import read
from undercover.forms.classes import Classes
from undercover.guarantees.checking import Promise, Topic
from undercover.model.finding import Finding, Sense
from undercover.model.protocols import Short
from undercover.model.release import Release
from undercover.model.run import Run
from undercover.parameters import EXACT, Within

FRAME = "output_tables"
_ROUNDING = 1e-12
_LIMIT = (
    "δ is the largest share one person has of any value that may be released in the group. It does not bound the "
    "probability of being found: somebody who keeps a value that others rarely draw is found more often than δ "
    "says. The holder has these figures."
)


@dataclass(frozen=True, kw_only=True)
class DeltaProbability(Promise):
    """No record has more than the share ``delta`` of any output value.

    Examples
    --------
    >>> DeltaProbability(delta="1/5").parameters()
    {'delta': '1/5'}
    """

    name: ClassVar[str] = "delta-probability"
    sense: ClassVar[Sense] = "at most"
    short: ClassVar[Short] = {}

    delta: Annotated[Number, Within(0, 1, "(]"), EXACT]

    def parameters(self) -> Mapping[str, Any]:
        """What was asked for, as written in a spec."""
        return {"delta": plain(exact(self.delta))}

    def title(self) -> str:
        """Its name and numbers."""
        return f"δ-probability, δ = {plain(exact(self.delta))}"

    def meaning(self) -> str:
        """What it means for the people in the table."""
        return (
            "Of every value that may be released in a group, no person has more than this share of the probability. It "
            "bounds a share, not the probability of being found, and it speaks of the output tables, which are private."
        )

    def limits(self, about: Topic) -> list[str]:
        """A share is not the probability of being found."""
        return [_LIMIT] if about == "draws" else []

    def unfit(self, release: Release) -> str | None:
        """It speaks of values that were drawn: where every cell covers the truth, none was."""
        return "No value of this release was drawn: its cells cover the truth." if read(release).covers else None

    def is_vacuous(self, classes: Classes) -> bool:
        """A share of 1 is no limit."""
        return exact(self.delta) >= 1

    def check(self, classes: Classes) -> Finding:
        """Published tables cannot tell."""
        return Finding(self.name, self.parameters(), float(exact(self.delta)), needs="private", sense=self.sense)

    def check_run(self, run: Run) -> Finding:
        """Recompute every share from the private output tables."""
        frame = run.frames.get(FRAME)
        required = float(exact(self.delta))
        if frame is None:
            note = f"The private run has no `{FRAME}`."
            return Finding(self.name, self.parameters(), required, holds=False, note=note, sense=self.sense)
        actual, problems = largest_share(frame, run.groups.count, run.groups.sizes)
        if required < actual <= required * (1 + _ROUNDING):
            actual = required
        holds = not problems and actual <= required
        return Finding(
            self.name,
            self.parameters(),
            required,
            actual,
            holds,
            needs="private",
            note=" ".join(problems),
            sense=self.sense,
        )


def largest_share(frame: pa.Table, n_groups: int, sizes: NDArray[np.int64]) -> tuple[float, list[str]]:
    """The largest share of a record in an output value, and what is wrong with the tables."""
    attribute, n_attributes = _codes(frame["attribute"])
    original, n_originals = _codes(frame["original"])
    output, n_outputs = _codes(frame["output"])
    group = frame["group"].to_numpy().astype(np.int64)
    probability = frame["probability"].to_numpy()
    records = frame["records"].to_numpy().astype(np.int64)
    table = group * n_attributes + attribute
    lines, line = np.unique(table * n_originals + original, return_inverse=True)
    problems = []
    if len(group) and (group.min() < 0 or group.max() >= n_groups):
        return np.inf, ["The output tables name groups that do not exist."]
    if not np.isfinite(probability).all() or (probability < 0).any() or (records < 1).any():
        return np.inf, ["The output tables hold something that is no probability."]
    if np.abs(np.bincount(line, probability) - 1).max(initial=0.0) > 1e-9:
        problems.append("Some line of the output tables does not add up to 1.")
    line_records = np.zeros(len(lines), dtype=np.int64)
    line_records[line] = records
    per_table = np.bincount(lines // n_originals, line_records, minlength=n_groups * n_attributes)
    if (per_table.reshape(n_groups, n_attributes) != sizes[:, None]).any():
        problems.append("Some output table does not have a line for every record of its group.")
    columns, column = np.unique(table * n_outputs + output, return_inverse=True)
    mass = np.bincount(column, probability * records, minlength=len(columns))
    highest = np.zeros(len(columns))
    np.maximum.at(highest, column, probability)
    shares = np.divide(highest, mass, out=np.zeros(len(columns)), where=mass > 0)
    return float(shares.max(initial=0.0)), problems


def _codes(column: pa.ChunkedArray) -> tuple[NDArray[np.int64], int]:
    plain_column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    encoded = plain_column if pa.types.is_dictionary(plain_column.type) else plain_column.dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    return encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64), max(len(encoded.dictionary), 1)
