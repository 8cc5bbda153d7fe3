"""What somebody learns who knows the cut: nothing where every part was dealt, something where a run fell back."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any, ClassVar

import pytest

import undercover as uc
from undercover.engines.divided import anonymized
from undercover.engines.parts import divide
from undercover.errors import UnreachableError
from undercover.model.groups import Seen
from undercover.model.run import Draft
from undercover.randomness import Randomness
from undercover.studies.algorithm_aware.attack import AlgorithmAware, AlgorithmAwareResult
from undercover.testing.tables import people

PARTS = 2


@dataclass(frozen=True, kw_only=True)
class InParts:
    """A method on two parts, with all it may publish; a part that cannot be dealt is a refusal, or a fall-back."""

    name: ClassVar[str] = "in-parts"
    algorithm_safe: ClassVar[bool] = True

    method: Any
    falls_back: bool

    def claims(self, table: uc.Table) -> Any:
        return self.method.claims(table)

    def anonymize(self, table: uc.Table, *, randomness: Randomness, **how: Any) -> Draft:
        draft = anonymized(self.method, table, engine=uc.LocalEngine(threads=1, parts=PARTS), randomness=randomness)
        if draft.diagnostics["parts"]["made"] < PARTS and not self.falls_back:
            raise UnreachableError("A part cannot be dealt.")
        return replace(draft, used={})

    def outcomes(self, table: uc.Table) -> Iterator[tuple[Fraction, Seen]]:
        division = divide(table, PARTS)
        parts = [division[number] for number in range(division.n_parts)]
        try:
            found = [[(chance, _of(rows, seen)) for chance, seen in self.method.outcomes(part)] for rows, part in parts]
        except UnreachableError:
            if not self.falls_back:
                raise
            yield from self.method.outcomes(table)
            return
        for chosen in product(*found):
            yield prod(chance for chance, _ in chosen), frozenset().union(*(seen for _, seen in chosen))


def _of(rows: Any, seen: Seen) -> Seen:
    return frozenset((frozenset(int(rows[row]) for row in members), values) for members, values in seen)


def attacked(method: Any, counts: tuple[int, ...], *, falls_back: bool) -> AlgorithmAwareResult:
    table = people(range(6), counts)
    assert divide(table, PARTS).n_parts == PARTS
    return AlgorithmAware(trials=8).on(table, InParts(method=method, falls_back=falls_back), randomness=Randomness(62))


@pytest.mark.parametrize("method", [uc.Anatomy(l=2), uc.Streamliner(l=2), uc.Streamliner(l=3)], ids=repr)
@pytest.mark.parametrize("counts", [(2, 2, 2), (2, 2, 1, 1), (2, 1, 1, 1, 1)])
def test_parts_that_were_all_dealt_tell_nothing(method: Any, counts: tuple[int, ...]) -> None:
    assert attacked(method, counts, falls_back=False).safe


@pytest.mark.parametrize("method", [uc.Anatomy(l=2), uc.Streamliner(l=2)], ids=repr)
def test_a_fall_back_tells_something(method: Any) -> None:
    assert not attacked(method, (2, 2, 2), falls_back=True).safe
