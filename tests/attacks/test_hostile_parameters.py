"""Whatever is given as a parameter of an attack, it is refused in a sentence, or the attack does what it does."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import undercover as uc
from undercover import plugins
from undercover.errors import ParameterError, UndercoverError
from undercover.model.run import Run
from undercover.parameters import describe, make

ILLS = ("cold", "flu", "gout", "rash")
PEOPLE = pa.table({"age": range(24), "ill": [ILLS[row % 4] for row in range(24)]})
SCHEMA = uc.Schema(quasi_identifiers="age", sensitive="ill", columns={"ill": uc.Column(domain=ILLS)})
HUGE = 10**30
NUMBERS = (0, -1, 0.5, HUGE, -HUGE, float("nan"), float("inf"), np.float64("nan"), np.int64(-3), True)
OTHERS = (None, "", "x", b"x", object(), (), [-1], [2.0], [float("nan")], ["age", 1], {"age": 1}, np.array([0.0, 1.0]))
CHEAP: dict[str, dict[str, Any]] = {
    "algorithm-aware": {"trials": 8},
    "known-values": {"trials": 2, "sets": 2},
    "minimality": {"draws": 20, "most_draws": 50},
}
METHODS = {
    "corruption": uc.PerturbedGeneralization(k=3, p=0.3),
    "informed": uc.MutualCover(l=2, delta="1/2", variant="paper"),
    "bucket-matching": uc.Anatomy(l=2),
}
ATTACKS = ("linkage", "nearest-row", "corruption", "ordinary-corruption", "bucket-matching", "algorithm-aware")
ATTACKS += ("known-values", "minimality", "informed", "partial-knowledge")


@pytest.fixture(scope="module")
def runs() -> dict[str, Run]:
    """A release that each attack applies to."""
    few = PEOPLE.slice(0, 6)
    made = {name: uc.publish(PEOPLE, SCHEMA, method, policy="none") for name, method in METHODS.items()}
    usual = uc.publish(PEOPLE, SCHEMA, uc.Mondrian(k=3, l=2), policy="none")
    small = uc.publish(few, SCHEMA, uc.Mondrian(k=2), policy="none")
    return dict.fromkeys(ATTACKS, usual) | made | {"algorithm-aware": small}


def given(name: str) -> Iterator[tuple[dict[str, Any], bool]]:
    """Each parameter of an attack with each value, and as it is written on the command line."""
    for parameter in describe(plugins.load("attacks", name)):
        for value in (*NUMBERS, *OTHERS):
            yield {**CHEAP.get(name, {}), parameter.name: value}, False
            if isinstance(value, str | int | float):
                yield {**CHEAP.get(name, {}), parameter.name: str(value)}, True


@pytest.mark.parametrize("name", ATTACKS)
def test_any_value_of_a_parameter_is_refused_in_a_sentence_or_taken(name: str, runs: dict[str, Run]) -> None:
    said = []
    for parameters, as_text in given(name):
        try:
            attacker = make("attacks", name, parameters) if as_text else plugins.load("attacks", name)(**parameters)
            uc.attack(runs[name], attacker).to_dict()
        except UndercoverError as error:
            said.append(str(error))
    assert said
    assert [text for text in said if not text.endswith((".", "?"))] == []


def test_shares_that_a_byte_cannot_number_are_refused() -> None:
    with pytest.raises(ParameterError, match="from 1 to 255 shares"):
        uc.OrdinaryCorruption(shares=(0.5,) * 256)
    with pytest.raises(ParameterError, match="Got 0 instead"):
        uc.OrdinaryCorruption(shares=())
