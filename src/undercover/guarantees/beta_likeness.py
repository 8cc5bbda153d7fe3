"""β-likeness: no sensitive value is much more frequent in a class than in the whole table.

Cao & Karras 2012, "Publishing microdata with a robust privacy guarantee": with p the share of a value in a class and q
its share in the table, basic β-likeness (Definition 2) asks (p - q)/q <= β wherever p > q; enhanced β-likeness
(Definition 3) asks (p - q)/q <= min(β, -ln q), which also bounds what is learnt of frequent values.

``actual`` is the smallest β that holds; in the enhanced form it is infinite where a value exceeds -ln q, since then
no β is enough. Deviation: the table is the published one.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, ClassVar

import numpy as np

from undercover.exact import compare, exact, plain
from undercover.forms.classes import Classes
from undercover.forms.distribution import Distribution
from undercover.guarantees.checking import Outcome, Promise, assess, conclude, in_blocks, of_column, value_of
from undercover.model.beliefs import ROUNDING, BeliefBlock, JointBeliefs, Judgement
from undercover.model.finding import Finding, Sense
from undercover.model.protocols import Cover, Short
from undercover.parameters import Above

_TOLERANCE = 1e-12


@dataclass(frozen=True, kw_only=True)
class BetaLikeness(Promise):
    """No value's share grows by more than ``beta`` times itself.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from undercover.forms.classes import classes_of_table
    >>> data = pa.table({"age": [1, 1, 2, 2], "ill": ["flu", "flu", "flu", "cold"]})
    >>> classes = classes_of_table(data, ["age"], ["ill"], suppressed_is_star=True)
    >>> BetaLikeness(beta=1).check(classes).actual
    1.0
    >>> BetaLikeness(beta=1, enhanced=True).check(classes).actual  # flu: gain 1/3, but -ln(3/4) = 0.29
    inf
    """

    name: ClassVar[str] = "beta-likeness"
    sense: ClassVar[Sense] = "at most"
    about: ClassVar[frozenset[Cover]] = frozenset({"attribute", "distribution"})
    short: ClassVar[Short] = {"beta": {}, "enhanced-beta": {"enhanced": True}}

    beta: Annotated[int | float | Fraction, Above(0)]
    enhanced: bool = False
    column: str | None = None

    def title(self) -> str:
        """Its name and numbers."""
        kind = "Enhanced β-likeness" if self.enhanced else "β-likeness"
        return f"{kind}, β = {plain(self.beta)}{of_column(self.column)}"

    def meaning(self) -> str:
        """What it means for the people in the table."""
        return (
            f"No {value_of(self.column)} is more frequent in a class than in the whole table by more than "
            f"{plain(self.beta)} times its share there."
        )

    def is_vacuous(self, classes: Classes) -> bool:
        """Whether even a class of nothing but the rarest value stays within ``beta``."""
        counts = [one.as_read.overall for name, one in classes.sensitive.items() if self.column in (None, name)]
        rarest = [(int(one[one > 0].min()), int(one.sum())) for one in counts if one.any()]
        return not self.enhanced and all(rows - count <= exact(self.beta) * count for count, rows in rarest)

    def check(self, classes: Classes) -> Finding:
        """Find the class in which a value gains most."""
        outcomes = assess(self.name, classes, self.column, in_blocks(self._outcome))
        return conclude(self, classes, outcomes, required=float(exact(self.beta)))

    def holds_jointly(self, beliefs: JointBeliefs) -> bool | None:
        """Whether no value is believed much more, by having all releases, than it is frequent in the whole table."""
        if self.column not in (None, beliefs.column):
            return True
        there = beliefs.overall > 0
        shares = beliefs.shares[there]
        gain = np.full(len(shares), float(exact(self.beta)))
        limit = shares * (1 + (np.minimum(gain, -np.log(shares)) if self.enhanced else gain)) + ROUNDING

        def judge(block: BeliefBlock) -> Judgement:
            least, most = block.least[:, there], block.most[:, there]
            return Judgement((most <= limit).all(axis=1), (least > limit).any(axis=1))

        return beliefs.decide(judge)

    def _outcome(self, column: Distribution) -> Outcome:
        rows = int(column.overall.sum())
        # (p - q)/q = (count · rows - overall · size) / (overall · size)
        base = column.overall[column.value_index] * column.sizes[column.class_index]
        growth = column.counts * rows - base
        gain = np.maximum(growth / base, 0.0)
        kept = (compare(growth, base, exact(self.beta)) <= 0) | (growth <= 0)
        if self.enhanced:
            limit = -np.log(column.overall / rows)[column.value_index]
            beyond = (growth > 0) & (gain > limit + _TOLERANCE * np.maximum(limit, 1.0))
            gain = np.where(beyond, np.inf, gain)
            kept &= ~beyond
        first = column.starts[:-1]
        return Outcome(np.maximum.reduceat(gain, first), np.logical_and.reduceat(kept, first), column.name)
