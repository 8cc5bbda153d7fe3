"""How the sensitive values of a perturbed release were drawn: what a recipient must know to read them.

Every value was kept with probability p and otherwise replaced by one drawn uniformly from a declared domain U, so a
value a is published as b with probability u + p [a = b], u = (1 - p) / \\|U\\| (Tao, Xiao, Li & Zhang, equation 11).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from undercover.errors import ParameterError
from undercover.model.release import Release

METHOD = "perturbed-generalization"


@dataclass(frozen=True)
class Perturbation:
    """The probability of keeping a value, and the values it is otherwise drawn from.

    Examples
    --------
    >>> noise = Perturbation(Fraction(1, 4), ("flu", "cold", "gout"))
    >>> noise.u, noise.size, noise.code["gout"]
    (Fraction(1, 4), 3, 2)
    """

    p: Fraction
    domain: tuple[str, ...]

    @classmethod
    def of(cls, release: Release) -> Perturbation:
        """What a release says of itself."""
        used = release.parameters.get("used", {})
        if release.method != METHOD or "p" not in used or "domain" not in used:
            raise ParameterError(f"The release was made by {release.method}, not by {METHOD}.")
        return cls(Fraction(used["p"]), tuple(str(value) for value in used["domain"]))

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


def is_perturbed(release: Release) -> bool:
    """Whether the sensitive values of a release were drawn at random, one per cell.

    >>> is_perturbed(Release("mondrian", {}, (), True))
    False
    """
    return release.method == METHOD
