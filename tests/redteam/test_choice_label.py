"""What was chosen told what was not: a recommendation made `algorithm_safe: true` false.

Six people, two of them alike in what others know. If those two share a value, small groups give them away and large
ones are recommended; if they do not, small groups are. Each method is safe by itself, and which of them was taken tells
with certainty whether the two share a value. So the label follows the workflow: whoever chose after looking, or made a
release again until it passed, publishes one that is not algorithm-safe.
"""

import json
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import undercover as uc
from undercover.cli.main import main
from undercover.errors import DataError, ParameterError, UnreachableError
from undercover.io.spec.load import load_spec
from undercover.model.release import LOOKED, NOT_SAFE
from undercover.studies.inspect.inspection import inspect
from undercover.studies.inspect.spec import write_spec
from undercover.studies.recommend.recommend import Recommendation

KNOWN = (0, 0, 1, 1, 1, 1)
VALUES = "aabcde"
SIX = uc.Schema(quasi_identifiers=["x"], sensitive="v")
POLICY = {"name": "own", "found": "1/2", "belief": "9/10", "gain": "1/10", "singled_out": "none"}


def worlds() -> Iterator[tuple[str, ...]]:
    """Every way in which the six values can belong to the six people."""
    return iter(sorted(set(permutations(VALUES))))


def satisfies(k: int, world: tuple[str, ...]) -> bool:
    """Whether groups of k or more pass the policy: k = 2 is the two and the four, k = 6 everybody together."""
    groups = [world[:2], world[2:]] if k == 2 else [world]
    return all(max(Counter(group).values()) < 0.9 * len(group) for group in groups)


def test_which_method_is_chosen_tells_that_two_people_share_a_value() -> None:
    """The smallest groups that pass, in all 360 worlds: what is published says what the two have, or have not."""
    every = list(worlds())
    assert len(every) == 360
    chosen = {world: next(k for k in (2, 6) if satisfies(k, world)) for world in every}
    large = [world for world in every if chosen[world] == 6]
    assert Fraction(len(large), len(every)) == Fraction(1, 15)
    assert all(world[0] == world[1] == "a" for world in large)  # certain, for somebody who sees k = 6
    assert not any(world[0] == world[1] for world in every if chosen[world] == 2)
    # Had k = 6 been fixed beforehand, the same release would leave 1/15, and no value above 1/3 for anybody.
    assert Fraction(sum(world[0] == world[1] for world in every), len(every)) == Fraction(1, 15)
    assert max(Fraction(sum(world[0] == value for world in every), len(every)) for value in VALUES) == Fraction(1, 3)


def test_the_recommended_method_is_that_choice() -> None:
    """The program's own verdicts decide so, in worlds of either kind."""
    for world in ("aabcde", "abacde", "bcadea"):
        people = pa.table({"x": KNOWN, "v": list(world)})
        passed = [k for k in (2, 6) if not uc.publish(people, SIX, uc.Mondrian(k=k), policy=POLICY).verdict.withheld]
        assert passed[0] == (6 if world[0] == world[1] else 2)


PEOPLE = uc.datasets.census(600, seed=3)
SCHEMA = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="income", drop="*")


Command = Callable[..., Any]


@pytest.fixture
def undercover(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Command]:
    """What a command says as JSON."""
    handler = signal.getsignal(signal.SIGTERM)

    def run(*arguments: object) -> Any:
        monkeypatch.setattr(sys, "argv", ["undercover", *map(str, arguments), "--json"])
        with pytest.raises(SystemExit) as left:
            main()
        printed = capsys.readouterr()
        assert left.value.code == 0, printed.err
        return json.loads(printed.out)

    yield run
    signal.signal(signal.SIGTERM, handler)


@pytest.fixture(scope="module")
def found() -> Recommendation:
    return uc.recommend(PEOPLE, SCHEMA, methods=["cross-bucket"])


def manifest(folder: Path) -> dict[str, Any]:
    place = folder / "public" if (folder / "public").is_dir() else folder / "withheld"
    content: dict[str, Any] = json.loads((place / "release.json").read_text("utf-8"))
    return content


def is_lowered(content: dict[str, Any], refused: int | None = None) -> bool:
    choice = {"basis": "looked", **({} if refused is None else {"refused": refused})}
    labels = content["algorithm_safe"], content["corruption_robust"], content["choice"]
    return labels == (False, False, choice) and LOOKED in content["warnings"]


def test_a_recommended_release_is_not_algorithm_safe(found: Recommendation, tmp_path: Path) -> None:
    assert found.best.algorithm_safe  # the method is
    run = uc.publish(PEOPLE, SCHEMA, found.best)
    content = manifest(uc.save(run, tmp_path / "out"))
    assert is_lowered(content)
    assert NOT_SAFE not in content["warnings"]
    (asked,) = run.verdict.reasons
    assert (asked.kind, asked.weight) == ("choice", "ask")
    assert asked.text == "This was chosen after looking at sensitive values. That alone can reveal something."
    assert found.verdict.title == run.verdict.title == "Decide"
    assert uc.verify(tmp_path / "out" / "public").holds
    sheet = (tmp_path / "out" / "public" / "datasheet.html").read_text("utf-8")
    assert "chosen after looking at sensitive values. That alone can reveal something" in sheet


def test_the_same_method_named_beforehand_keeps_its_label(tmp_path: Path) -> None:
    run = uc.publish(PEOPLE, SCHEMA, uc.CrossBucket(k=5, l=2))
    content = manifest(uc.save(run, tmp_path / "out"))
    assert (content["algorithm_safe"], content["choice"]) == (True, {"basis": "declared"})
    assert run.verdict.title == "Ready"


def test_open_refuses_what_was_chosen_by_looking(found: Recommendation) -> None:
    run = uc.publish(PEOPLE, SCHEMA, found.best, policy={"name": "open", "found": "1/5"})
    assert "choice" in {reason.kind for reason in run.verdict.weighing("stop")}
    with pytest.raises(UnreachableError, match="chosen after looking at sensitive values"):
        uc.recommend(PEOPLE, SCHEMA, policy="open", methods=["cross-bucket"])


def test_a_spec_that_was_recommended_says_so_and_its_release_too(undercover: Command, tmp_path: Path) -> None:
    data, spec = tmp_path / "people.csv", tmp_path / "spec.toml"
    ages = [20 + i % 7 for i in range(240)]
    ill = ["flu", "cold", "gout", "rash"] * 60
    data.write_text("age,ill\n" + "".join(f"{age},{what}\n" for age, what in zip(ages, ill, strict=True)))
    roles = ["--qi", "age", "--sensitive", "ill"]
    undercover("recommend", data, *roles, "--methods", "cross-bucket", "--write-spec", spec)
    assert load_spec(spec).choice == "looked"
    first = undercover("publish", data, "--spec", spec, "--out", tmp_path / "a")
    assert first["choice"] == {"basis": "looked"}
    assert is_lowered(manifest(tmp_path / "a"))
    again = tmp_path / "a" / "private" / "spec.toml"
    assert load_spec(again).choice == "looked"
    direct = undercover("recommend", data, *roles, "--methods", "cross-bucket", "--publish", tmp_path / "b")
    assert direct["published"]["choice"] == {"basis": "looked"}
    assert is_lowered(manifest(tmp_path / "b"))


def test_inspect_writes_that_its_method_was_chosen_by_looking(tmp_path: Path) -> None:
    people = pa.table({"age": [20 + i % 7 for i in range(240)], "disease": ["flu", "cold", "gout", "rash"] * 60})
    write_spec(inspect(people), tmp_path / "spec.toml", data=people)
    assert load_spec(tmp_path / "spec.toml").choice == "looked"
    write_spec(inspect(people), tmp_path / "plain.toml")  # without looking
    assert load_spec(tmp_path / "plain.toml").choice == "declared"


# Everybody of an age has one value where groups are small.
PURE = pa.table(
    {"age": [20 + i // 20 for i in range(400)], "pay": ["low" if i // 20 % 2 else "high" for i in range(400)]}
)
PAY = uc.Schema(quasi_identifiers=["age"], sensitive="pay")


def published(k: int, folder: Path, **more: Any) -> dict[str, Any]:
    return manifest(uc.save(uc.publish(PURE, PAY, uc.Mondrian(k=k)), folder, **more))


def test_a_release_that_passes_at_the_first_attempt_keeps_its_label(tmp_path: Path) -> None:
    content = published(200, tmp_path / "first")
    assert (content["algorithm_safe"], content["choice"]) == (True, {"basis": "declared"})


def test_a_release_made_again_beside_one_that_was_refused_loses_its_label(tmp_path: Path) -> None:
    assert published(20, tmp_path / "a")["algorithm_safe"]  # withheld, and chosen before looking
    assert (tmp_path / "a" / "withheld").is_dir()
    assert is_lowered(published(200, tmp_path / "b"), refused=1)
    assert "1 earlier release of the same table was refused" in json.dumps(
        json.loads((tmp_path / "b" / "private" / "run.json").read_text("utf-8"))["judged"]
    )


def test_a_release_written_over_one_that_was_refused_loses_its_label(tmp_path: Path) -> None:
    published(20, tmp_path / "out")
    assert is_lowered(published(200, tmp_path / "out", force=True), refused=1)


def test_a_second_draw_with_the_same_parameters_is_an_attempt_as_well(tmp_path: Path) -> None:
    published(20, tmp_path / "a")
    published(20, tmp_path / "b")
    assert is_lowered(published(200, tmp_path / "c"), refused=2)


def test_what_no_sensitive_value_decides_is_no_refusal(tmp_path: Path) -> None:
    # A column nobody decided on, and one that singles people out: both follow from what others may know.
    people = PURE.append_column("note", pa.array([f"n{i}" for i in range(400)]))
    for place, schema in enumerate((PAY, uc.Schema(quasi_identifiers=["age"], sensitive="pay", insensitive="note"))):
        policy = {"name": "standard", "found": "none", "belief": "none"}
        run = uc.publish(people, schema, uc.Mondrian(k=200), policy=policy)
        uc.save(run, tmp_path / f"attempt-{place}")
        assert run.verdict.status != "ready"
    schema = uc.Schema(quasi_identifiers=["age"], sensitive="pay", drop="*")
    last = uc.save(uc.publish(people, schema, uc.Mondrian(k=200)), tmp_path / "last")
    assert manifest(last)["choice"] == {"basis": "declared"}


def test_another_table_beside_it_is_no_attempt(tmp_path: Path) -> None:
    published(20, tmp_path / "a")
    other = PURE.slice(0, 380)
    content = manifest(uc.save(uc.publish(other, PAY, uc.Mondrian(k=190)), tmp_path / "b"))
    assert content["choice"] == {"basis": "declared"}


def tampered(folder: Path, **changes: Any) -> list[str]:
    """What a verifier says of a public folder whose manifest was changed."""
    place = folder / "public" / "release.json"
    content = json.loads(place.read_text("utf-8"))
    for key, value in changes.items():
        if value is None:
            del content[key]
        else:
            content[key] = value
    place.write_text(json.dumps(content), encoding="utf-8")
    return list(uc.verify(folder / "public").problems)


@pytest.fixture
def looked(found: Recommendation, tmp_path: Path) -> Path:
    return uc.save(uc.publish(PEOPLE, SCHEMA, found.best), tmp_path / "out")


@pytest.mark.parametrize(
    "changes",
    [
        {"algorithm_safe": True},
        {"algorithm_safe": True, "warnings": []},
        {"corruption_robust": True},
        {"choice": {"basis": "declared"}},
        {"choice": {"basis": "public"}, "algorithm_safe": True},
        {"choice": None},
        {"choice": None, "algorithm_safe": True},
        {"warnings": []},
        {"choice": {"basis": "looked", "rule": "ours"}},
    ],
    ids=str,
)
def test_a_label_that_was_changed_is_found(looked: Path, changes: dict[str, Any]) -> None:
    assert uc.verify(looked / "public").problems == ()
    assert tampered(looked, **changes)


def test_a_basis_nobody_knows_is_refused(looked: Path) -> None:
    with pytest.raises(DataError, match=r"choice\.basis"):
        tampered(looked, choice={"basis": "guessed"})
    with pytest.raises(ParameterError, match="Basis of a choice `guessed` is not known"):
        uc.publish(PURE, PAY, uc.Mondrian(k=200), choice="guessed")  # type: ignore[arg-type]


def test_a_recipe_that_was_chosen_by_looking_stays_so(found: Recommendation) -> None:
    first = uc.publish(PEOPLE, SCHEMA, found.best)
    assert uc.apply(first, uc.datasets.census(600, seed=4)).release.choice.basis == "looked"
