"""Policies: by name, from files and mappings, with what is wrong told."""

from fractions import Fraction
from pathlib import Path

import pytest

from undercover.errors import ParameterError
from undercover.model.policy import POLICIES, STANDARD, Policy, policy_of


def test_by_name_and_itself() -> None:
    assert policy_of(None) is STANDARD is policy_of("standard")
    assert policy_of("open").found == Fraction(1, 11)
    own = Policy(found=0.05)
    assert policy_of(own) is own
    assert [name for name, policy in POLICIES.items() if not policy.judges] == ["none"]


@pytest.mark.parametrize("name", POLICIES)
def test_there_and_back(name: str) -> None:
    assert Policy(**POLICIES[name].to_dict()) == POLICIES[name]
    assert policy_of({"name": name}) == POLICIES[name]


@pytest.mark.parametrize("text", ['name = "open"\nfound = "1/20"\n', '[policy]\nname = "open"\nfound = "1/20"\n'])
def test_a_file_changes_what_it_says(tmp_path: Path, text: str) -> None:
    place = tmp_path / "ours.toml"
    place.write_text(text)
    policy = policy_of(place)
    assert (policy.name, policy.found, policy.belief) == ("open, changed", Fraction(1, 20), POLICIES["open"].belief)


def test_none_lifts_a_limit() -> None:
    policy = policy_of({"found": "none", "singled_out": "none"})
    assert policy.found is policy.singled_out is None
    assert policy.belief == STANDARD.belief


def test_limits_of_one_file_are_read_together() -> None:
    # On its own, this belief would be below the standard gain.
    assert policy_of({"belief": 0.05, "gain": 0.01}).belief == 0.05


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ({"fund": 0.2}, "Did you mean `found`?"),
        ({"found": 0}, r"must be a number in \(0, 1\]"),
        ({"belief": 1.1}, r"must be a number in \(0, 1\]"),
        ({"belief": 0.2, "gain": 0.3}, "contradicts itself: `gain`"),
        ({"belief": "none", "known_values": True}, "contradicts itself: without `belief`"),
        ({"belief": "none", "harmful": {"disease": ["HIV"]}}, "contradicts itself: without `belief`"),
        ({"harmful": {"disease": []}}, "No value of `disease` is harmful"),
        ({"harmful": ["HIV"]}, "given by column"),
        ({"name": "none", "found": 0.2}, "judges nothing"),
        ({"algorithm_safe": "maybe"}, "required"),
    ],
)
def test_what_is_wrong(content: dict[str, object], told: str) -> None:
    with pytest.raises(ParameterError, match=told):
        policy_of(content)


def test_an_unknown_name_and_a_file_that_is_no_toml(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="Did you mean `standard`"):
        policy_of("standart")
    place = tmp_path / "bad.toml"
    place.write_text("found 0.2")
    with pytest.raises(ParameterError, match="is not TOML"):
        policy_of(place)
