"""What nobody knows makes a release one to decide on; what is known makes it ready."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import undercover as uc
from undercover.model.verdict import Verdict

PEOPLE = pa.table({"name": [f"P{i}" for i in range(40)], "age": [20, 60] * 20, "disease": ["a", "a", "b", "b"] * 10})
SCHEMA = uc.Schema(quasi_identifiers=["age"], sensitive="disease", identifiers="name")


def verdict(people: Any = PEOPLE, schema: uc.Schema = SCHEMA, **more: Any) -> Verdict:
    return uc.publish(people, schema, more.pop("method", uc.Mondrian(k=10)), **more).verdict


def test_a_release_without_any_question_is_ready() -> None:
    assert verdict().title == "Ready"
    assert verdict().reasons == ()


def test_a_seed() -> None:
    found = verdict(seed=1)
    assert (found.title, [reason.kind for reason in found.reasons]) == ("Decide", ["seed"])


def test_an_identifier_that_repeats_until_somebody_says_what_a_person_is() -> None:
    people = PEOPLE.set_column(0, "name", pa.array([f"P{i // 2}" for i in range(40)]))
    found = verdict(people)
    assert (found.title, [reason.kind for reason in found.reasons]) == ("Decide", ["unit"])
    assert found.reasons[0].text.startswith("`name` (identifier) has 20 values with 2 rows each")
    assert 'unit="row"' in found.reasons[0].change
    assert verdict(people, replace_unit("row")).title == "Ready"
    said = uc.Schema(quasi_identifiers=["age"], sensitive="disease", unit="name", one_row_per="first")
    assert verdict(people, said).title == "Ready"


def replace_unit(unit: str) -> uc.Schema:
    return uc.Schema(quasi_identifiers=["age"], sensitive="disease", identifiers="name", unit=unit)


def test_an_identifier_that_a_few_rows_share_is_asked_about_by_itself() -> None:
    names = pa.array([f"P{i % 37}" for i in range(40)])
    found = verdict(PEOPLE.set_column(0, "name", names))
    assert (found.title, [reason.kind for reason in found.reasons]) == ("Decide", ["unit"])
    assert "6 of 40 rows share their `name`" in found.reasons[0].text


def test_a_column_nobody_decided_on() -> None:
    people = PEOPLE.append_column("note", pa.array(["x"] * 40))
    found = verdict(people)
    assert (found.title, [reason.kind for reason in found.reasons]) == ("Decide", ["undecided"])
    roles = {"quasi_identifiers": ["age"], "sensitive": "disease", "identifiers": "name"}
    assert verdict(people, uc.Schema(**roles, drop=["note"])).title == "Ready"
    assert verdict(people, uc.Schema(**roles, drop="*")).title == "Ready"


def test_free_text_in_a_published_column() -> None:
    names = [first + second for first in "abcdefgh" for second in ("dam", "len", "mir", "not", "pex")]
    texts = [f"patient {name} was seen again today" for name in names]
    schema = uc.Schema(quasi_identifiers=["age"], sensitive="remark", drop="*")
    found = verdict(PEOPLE.append_column("remark", pa.array(texts)), schema)
    assert [reason.kind for reason in found.reasons] == ["free text"]
    short = verdict(PEOPLE.append_column("remark", pa.array([f"ward {name}" for name in names])), schema)
    assert short.title == "Ready"


@dataclass(frozen=True, kw_only=True)
class Kin(uc.Mondrian):
    """A method of somebody's own under the name of a built-in one."""


def test_a_method_nobody_checked() -> None:
    assert [reason.kind for reason in verdict(method=Kin(k=10)).reasons] == ["plug-in"]


def test_more_reasons_and_their_order() -> None:
    found = verdict(seed=1, policy={"found": 0.04})
    assert found.title == "Do not publish"
    assert [reason.weight for reason in found.ordered()] == ["stop", "ask"]
    again = Verdict.of(found.to_dict())
    assert again.ordered() == found.ordered()
    assert again.policy == found.policy


def test_the_verdict_is_kept_with_the_run(tmp_path: Any) -> None:
    run = uc.publish(PEOPLE, SCHEMA, uc.Mondrian(k=10), seed=1, policy="research")
    loaded = uc.load(uc.save(run, tmp_path / "out"))
    assert loaded.policy == run.policy
    assert loaded.verdict.to_dict() == run.verdict.to_dict()


@pytest.mark.parametrize("method", [uc.MutualCover(variant="groups", l=5), uc.MutualCover(delta="1/5", l=5)])
def test_a_value_that_is_true_by_chance_exposes_nobody(method: Any) -> None:
    # Everybody's row fits alone and many values came back to where they were; what may be believed is 1/5.
    people = pa.table({"age": np.arange(200), "disease": [f"d{i % 20}" for i in range(200)]})
    run = uc.publish(people, uc.Schema(quasi_identifiers=["age"], sensitive="disease"), method)
    assert run.verdict.title == "Ready"
    believed = [each.belief["disease"].max() for found in run.attacks for each in found.exposures() if each.belief]
    assert max(believed) <= 1 / 4 + 1e-9  # 1/4 for who knows one other value


def test_luck_is_not_held_against_a_person_but_counted_over_all() -> None:
    people = pa.table({"age": np.arange(200), "disease": [f"d{i % 20}" for i in range(200)]})
    schema = uc.Schema(quasi_identifiers=["age"], sensitive="disease")
    run = uc.publish(people, schema, uc.MutualCover(variant="paper", delta="1/2", l=2))
    by_attack = {each.attack: each for found in run.attacks for each in found.exposures()}
    assert by_attack["linkage"].found is None
    assert by_attack["linkage"].belief == {}
    assert 0 <= (by_attack["nearest-row"].rate or 0) <= 1
    assert by_attack["informed"].found is not None
    told = {reason.kind for reason in run.verdict.reasons if reason.text.startswith("Nobody judged")}
    assert told == set()
    outside = replace(run)  # without the one attack that knows what was drawn from, luck is all there is
    outside.__dict__["attacks"] = tuple(found for found in run.attacks if found.to_dict()["attack"] != "informed")
    told = {reason.kind for reason in outside.verdict.reasons if reason.text.startswith("Nobody judged")}
    assert told == {"found", "exposed"}
