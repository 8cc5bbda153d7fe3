"""A public channel of values: what a recipient must know to read values that went through it.

Every value was kept with probability p and otherwise replaced by one drawn uniformly from a declared domain U, so a
value a is published as b with probability u + p [a = b], u = (1 - p) / \\|U\\| (Tao, Xiao, Li & Zhang, equation 11).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property


@dataclass(frozen=True)
class Channel:
    """The probability of keeping a value, and the values it is otherwise drawn from."""

    p: Fraction
    domain: tuple[str, ...]
    stated: str | float | None = field(default=None, compare=False, repr=False)  # p as it was written

    @property
    def size(self) -> int:
        """Number of values in the domain."""
        return len(self.domain)

    @property
    def u(self) -> Fraction:
        """Probability of any one value being drawn in place of the true one."""
        return (1 - self.p) / self.size

    @cached_property
    def code(self) -> dict[str, int]:
        """Position of each value in the domain."""
        return {label: place for place, label in enumerate(self.domain)}
