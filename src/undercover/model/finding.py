"""What a check found: what was required, what the table has, and the classes that fall short. Data only."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Sense = Literal["at least", "at most"]

_NONE = np.empty(0, dtype=np.int64)


_ABOUT = ("form", "column", "c", "of", "per")


@dataclass(frozen=True)
class Finding:
    """The outcome of one check.

    ``actual`` is the strongest promise of this kind the table keeps: the largest k or l, the smallest t, delta or
    beta; ``None`` where it is not known. ``holds`` is ``None`` where published tables cannot tell, and ``needs`` then
    names what could. ``columns`` are those it speaks of. ``is_vacuous`` says that it asks for nothing, such as k = 1,
    ``is_refutable`` that published tables cannot confirm it but could have refuted it, and do not. A comparison with
    the original ``is_promise`` to nobody.

    Examples
    --------
    >>> Finding("k-anonymity", {"k": 5}, required=5, actual=3, holds=False)
    <Finding: k-anonymity fails, 3 where at least 5 is required>
    >>> Finding("t-closeness", {"t": 0.2}, required=0.2, actual=math.inf, holds=False, sense="at most").manifest_entry()
    {'name': 't-closeness', 't': 0.2, 'required': 0.2, 'actual': 'inf', 'holds': False}
    """

    name: str
    parameters: Mapping[str, Any]
    required: float | None = None
    actual: float | None = None
    holds: bool | None = None
    needs: str | None = None
    note: str = ""
    sense: Sense = "at least"
    violating_rows: int = 0
    examples: tuple[Mapping[str, Any], ...] = field(default=(), compare=False)
    violators: NDArray[np.int64] = field(default_factory=lambda: _NONE, compare=False, repr=False)
    columns: tuple[str, ...] = field(default=(), compare=False)
    is_vacuous: bool = field(default=False, compare=False)
    is_refutable: bool = field(default=False, compare=False)
    is_promise: bool = field(default=True, compare=False)

    @property
    def violating_classes(self) -> int:
        """Number of classes that fall short."""
        return len(self.violators)

    def shown(self) -> str:
        """The actual value for people, rounded so that it never promises more than there is."""
        return shown(self.actual, self.sense)

    @property
    def about(self) -> str:
        """Which of several things of one name it speaks of, as ``of=cells``."""
        return ", ".join(f"{name}={value}" for name, value in self.parameters.items() if name in _ABOUT)

    def to_dict(self) -> dict[str, Any]:
        """Everything, at full precision, ready for JSON."""
        entry = self.manifest_entry()
        entry["violating_classes"] = self.violating_classes
        entry["violating_rows"] = self.violating_rows
        entry |= {"vacuous": True} if self.is_vacuous else {}
        entry["examples"] = [{**example, "actual": _jsonable(example.get("actual"))} for example in self.examples]
        return entry

    def manifest_entry(self) -> dict[str, Any]:
        """What goes into ``release.json``: nothing about single classes."""
        entry: dict[str, Any] = {"name": self.name, **self.parameters}
        entry |= {"required": _jsonable(self.required), "actual": _jsonable(self.actual), "holds": self.holds}
        if self.needs:
            entry["needs"] = self.needs
        if self.note:
            entry["note"] = self.note
        if self.columns:
            entry["columns"] = list(self.columns)
        return entry

    def with_note(self, note: str) -> Finding:
        """The same finding with one more remark."""
        return replace(self, note=f"{self.note} {note}".strip())

    def __repr__(self) -> str:
        if self.holds is None:
            return f"<Finding: {self.name} cannot be told from published tables; it needs: {self.needs}>"
        verdict = "holds" if self.holds else "fails"
        if self.actual is None or self.required is None:
            return f"<Finding: {self.name} {verdict}. {self.note}>"
        following = "" if self.holds or not self.examples else "; .examples lists the worst classes"
        return (
            f"<Finding: {self.name} {verdict}, {self.shown()} where {self.sense} {shown(self.required, None)} "
            f"is required{following}>"
        )


def shown(value: float | None, sense: Sense | None) -> str:
    """A number for people: rounded down where more is better, up where less is.

    >>> shown(2.9999999999999996, "at least"), shown(5, "at least"), shown(None, "at most"), shown(math.inf, "at most")
    ('3', '5', 'unknown', '∞')
    """
    if value is None:
        return "unknown"
    if math.isinf(value):
        return "∞"
    if isinstance(value, int) or value == 0 or sense is None:
        return format(value, "g") if isinstance(value, float) else str(value)
    decimals = max(2, 2 - math.floor(math.log10(abs(value))))
    # What floating point got wrong in the last digits is no reason to show 2.99 for 3.
    slack = 1e-12 if sense == "at least" else -1e-12
    rounding = ROUND_FLOOR if sense == "at least" else ROUND_CEILING
    rounded = Decimal(value * (1 + slack)).quantize(Decimal(1).scaleb(-decimals), rounding=rounding)
    return format(rounded.normalize(), "f")


def _jsonable(value: float | None) -> float | str | None:
    return "inf" if isinstance(value, float) and math.isinf(value) else value
