"""δ-disclosure privacy: a class says little more about any sensitive value than the whole table.

Brickell & Shmatikov 2008, "The cost of privacy", Definition 4: for every value s of the table and every class with
share p of it, where the table has share q, |log(p/q)| < δ. Natural logarithm. A value that is absent from a class has
p = 0 and an infinite logarithm: every class must have every value.

``actual`` is the largest |log(p/q)|; the promise holds for every δ above it. No deviations, except that the table is
the published one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, ClassVar

import numpy as np

from undercover.exact import exact, plain
from undercover.forms.classes import Classes
from undercover.forms.distribution import Distribution
from undercover.guarantees.checking import Outcome, Promise, assess, conclude, in_blocks, of_column, value_of
from undercover.model.beliefs import ROUNDING, BeliefBlock, JointBeliefs, Judgement
from undercover.model.finding import Finding, Sense
from undercover.model.protocols import Cover, Short
from undercover.parameters import Above


@dataclass(frozen=True, kw_only=True)
class DeltaDisclosure(Promise):
    """``|log(p/q)|`` stays below ``delta`` for every value in every class.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from undercover.forms.classes import classes_of_table
    >>> data = pa.table({"age": [1, 1, 2, 2], "ill": ["flu", "cold", "flu", "cold"]})
    >>> DeltaDisclosure(delta=0.1).check(classes_of_table(data, ["age"], ["ill"], suppressed_is_star=True)).actual
    0.0
    """

    name: ClassVar[str] = "delta-disclosure"
    sense: ClassVar[Sense] = "at most"
    about: ClassVar[frozenset[Cover]] = frozenset({"attribute", "distribution"})
    short: ClassVar[Short] = {"delta": {}}

    delta: Annotated[int | float | Fraction, Above(0)]
    column: str | None = None

    def title(self) -> str:
        """Its name and numbers."""
        return f"δ-disclosure privacy, δ = {plain(self.delta)}{of_column(self.column)}"

    def meaning(self) -> str:
        """What it means for the people in the table."""
        return (
            f"No class makes any {value_of(self.column)} more or less likely than the whole table does, beyond a "
            f"factor of e to the power of {plain(self.delta)}."
        )

    def check(self, classes: Classes) -> Finding:
        """Find the class that differs most."""
        outcomes = assess(self.name, classes, self.column, in_blocks(self._outcome))
        return conclude(self, classes, outcomes, required=float(exact(self.delta)))

    def holds_jointly(self, beliefs: JointBeliefs) -> bool | None:
        """Whether all releases together make no value much more or less likely than the whole table does."""
        if self.column not in (None, beliefs.column):
            return True
        there, factor = beliefs.overall > 0, math.exp(float(exact(self.delta)))
        low, high = beliefs.shares[there] / factor, beliefs.shares[there] * factor

        def judge(block: BeliefBlock) -> Judgement:
            least, most = block.least[:, there], block.most[:, there]
            holds = ((least > low + ROUNDING) & (most < high - ROUNDING)).all(axis=1)
            fails = ((most < low - ROUNDING) | (least > high + ROUNDING) | (most == 0)).any(axis=1)
            return Judgement(np.asarray(holds), np.asarray(fails))

        return beliefs.decide(judge)

    def _outcome(self, column: Distribution) -> Outcome:
        rows = int(column.overall.sum())
        # Both products are whole and exact below 2**53, so equal shares give exactly log(1) = 0.
        here = column.counts.astype(np.float64) * rows
        overall = column.overall[column.value_index].astype(np.float64) * column.sizes[column.class_index]
        actual = np.maximum.reduceat(np.abs(np.log(here / overall)), column.starts[:-1])
        actual[column.distinct < column.n_values] = np.inf
        return Outcome(actual, actual < float(exact(self.delta)), column.name)
