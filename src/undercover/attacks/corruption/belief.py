"""Corruption: the attacker has learnt other people's values beforehand, up to everybody's but the victim's.

Tao, Xiao, Li & Zhang, "On Anti-Corruption Privacy Preserving Publication", Sections III, V and VI. Of a generalised
table he strikes out what he knows, and is certain in the end (Lemma 2). Of perturbed generalization he finds the one
row of the victim's cell (step A1), the people who may own it (A2), and weighs who does (A3)::

    own  = p prior[y] + u
    g    = (G - 1 - β) / undecided people                     share of them who are in the table
    den  = own + Σ corrupted (u + p [x_i = y]) + g Σ undecided (p prior_j[y] + u)
    h    = own / den                                          probability that the victim owns the row
    post[x] = h prior[x] (u + p [x = y]) / own + (1 - h) prior[x]

with y the value seen, G the size of the cell and β the corrupted people who are in the table (equations 9 to 19).

Deviations: where nobody is undecided, g is not 0/0 but must not be needed: G = 1 + β. All in fractions, so that what is
exact in theory is exact here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from undercover.errors import ParameterError, unknown
from undercover.exact import Number, exact
from undercover.model.channel import Channel

Prior = Mapping[str, Number]
EXTRANEOUS = None
"""What is known of a corrupted person who is not in the table."""


@dataclass(frozen=True)
class Belief:
    """What the attacker believes of the victim, before and after.

    ``ownership`` is the probability that the published row is the victim's own; ``None`` where all rows are published.
    """

    before: Mapping[str, Fraction]
    after: Mapping[str, Fraction]
    ownership: Fraction | None = None

    def confidence(self, predicate: Iterable[str]) -> tuple[Fraction, Fraction]:
        """How sure he is that the victim's value is one of these: before and after."""
        values = set(predicate)
        return (
            sum((self.before.get(value, Fraction(0)) for value in values), Fraction(0)),
            sum((self.after.get(value, Fraction(0)) for value in values), Fraction(0)),
        )

    @property
    def largest_growth(self) -> Fraction:
        """By how much his confidence rises in whatever it rises most in."""
        return sum((max(self.after[value] - self.before[value], Fraction(0)) for value in self.after), Fraction(0))

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "ownership": None if self.ownership is None else float(self.ownership),
            "before": {value: float(chance) for value, chance in self.before.items()},
            "after": {value: float(chance) for value, chance in self.after.items()},
            "growth": float(self.largest_growth),
        }


def perturbed_belief(
    noise: Channel,
    *,
    size: int,
    seen: str,
    prior: Prior | None = None,
    corrupted: Sequence[str | None] = (),
    undecided: Sequence[Prior | None] = (),
) -> Belief:
    """What somebody who knows other people's values believes after seeing the one row of the victim's cell.

    The row shows ``size`` people and the value ``seen``. Of the victim and of everybody else who may be in the cell
    (``undecided``) he believes what is given beforehand, ``None`` for uniform; ``corrupted`` are the values of the
    people of that cell he has corrupted, :data:`EXTRANEOUS` for those who are not in the table.
    """
    before = _checked_prior(prior, noise.domain)
    problems = [
        unknown("Value", str(value), noise.domain)
        for value in (seen, *corrupted)
        if value is not None and value not in noise.code
    ]
    if problems:
        raise ParameterError(problems)
    present = [value for value in corrupted if value is not None]
    left = size - 1 - len(present)
    if left < 0 or left > len(undecided):
        raise ParameterError(
            f"A cell of {size:,} people cannot have the victim, {len(present):,} corrupted people and "
            f"{len(undecided):,} who may be in it: check who is in the cell."
        )
    p, u = noise.p, noise.u
    share = Fraction(left, len(undecided)) if undecided else Fraction(0)
    own = p * before[seen] + u
    others = sum((u + p * (value == seen) for value in present), Fraction(0))
    for their_prior in undecided if share else ():
        others += share * (p * _checked_prior(their_prior, noise.domain)[seen] + u)
    ownership = own / (own + others) if own + others else Fraction(0)
    after = {
        value: (ownership * chance * (u + p * (value == seen)) / own if own else Fraction(0)) + (1 - ownership) * chance
        for value, chance in before.items()
    }
    return Belief(before, after, ownership)


def generalized_belief(
    values: Sequence[str], *, domain: Sequence[str], prior: Prior | None = None, corrupted: Sequence[str] = ()
) -> Belief:
    """The same against a generalised table, of which he sees every sensitive value of the victim's class.

    Of the ``values`` of the class he strikes out those he has ``corrupted``; of the others he believes nothing in
    particular.
    """
    before = _checked_prior(prior, domain)
    left = Counter(values)
    left.subtract(corrupted)
    gone = [value for value, count in left.items() if count < 0]
    if gone:
        raise ParameterError(f"`{gone[0]}` is corrupted more often than it occurs in the class.")
    weights = {value: before[value] * left[value] for value in before}
    total = sum(weights.values(), Fraction(0))
    if not total:
        raise ParameterError("The prior excludes every value that is left in the class.")
    return Belief(before, {value: weight / total for value, weight in weights.items()})


def _checked_prior(prior: Prior | None, domain: Sequence[str]) -> dict[str, Fraction]:
    if prior is None:
        return {value: Fraction(1, len(domain)) for value in domain}
    known = set(domain)
    problems = [unknown("Value", value, domain) for value in prior if value not in known]
    chances = {value: exact(prior.get(value, 0)) for value in domain}
    if not problems and (min(chances.values()) < 0 or abs(float(sum(chances.values())) - 1) > 1e-9):
        problems.append(
            f"A prior gives every value a probability, and they add up to 1. Got {float(sum(chances.values())):g}."
        )
    if problems:
        raise ParameterError(problems)
    return chances
