"""What attackers believe, and whom they attack, by hand."""

from fractions import Fraction

import numpy as np

import undercover as uc
from undercover.attacks.corruption.belief import Belief
from undercover.attacks.partial.attack import attacked
from undercover.attacks.partial.profile import Profile
from undercover.verbs.attack import attacks_of, case_of


def test_confidence_before_and_after() -> None:
    belief = Belief({"flu": Fraction(1, 2)}, {"flu": Fraction(1)})
    assert belief.confidence(["flu"]) == (Fraction(1, 2), 1)


def test_everybody_is_attacked_where_they_are_few() -> None:
    assert (attacked(4).tolist(), len(attacked(1_000_000))) == ([0, 1, 2, 3], 500)


def test_a_profile_weighs_what_is_matched_on() -> None:
    # Of one column, the empty subset finds 1 of 4 rows, the column itself 1 of 2.
    one = Profile(np.array([[0.25, 0.5]]), np.array([[4.0, 2.0]]), {}, {})
    assert (one.at(1.0)[0].tolist(), one.at(0.5)[0].tolist()) == ([0.5], [0.375])


def test_attacks_that_apply_to_a_release() -> None:
    schema = uc.Schema(quasi_identifiers=["age"], sensitive="income")
    run = uc.publish(uc.datasets.census(1000), schema, uc.Mondrian(k=10))
    assert [attacker.name for attacker in attacks_of(case_of(run))] == [
        "linkage",
        "partial-knowledge",
        "ordinary-corruption",
    ]
