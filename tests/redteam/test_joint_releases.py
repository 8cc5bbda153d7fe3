"""Releases that were Ready although other tables about the same people gave them away."""

import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pytest

import undercover as uc
from undercover.attacks.joint.overlap import overlap
from undercover.cli.main import main
from undercover.errors import UnreachableError
from undercover.guarantees.checking import holds_jointly
from undercover.model.beliefs import JointBeliefs
from undercover.model.protocols import Method

Command = Callable[..., Any]


@pytest.fixture
def undercover(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Command]:
    """The command line in this process: its exit code and what it says."""
    handler = signal.getsignal(signal.SIGTERM)

    def run(*arguments: Any) -> tuple[Any, str]:
        monkeypatch.setattr(sys, "argv", ["undercover", *map(str, arguments)])
        with pytest.raises(SystemExit) as left:
            main()
        return left.value.code, capsys.readouterr().err

    yield run
    signal.signal(signal.SIGTERM, handler)


def census(rows: int = 1500, seed: int = 1) -> pa.Table:
    people = uc.datasets.census(rows, seed=seed).select(["age", "sex", "education", "income"])
    return people.append_column("name", pa.array([f"Person {number}" for number in range(rows)]))


def schema(*quasi_identifiers: str) -> uc.Schema:
    names = quasi_identifiers or ("age", "sex")
    return uc.Schema(quasi_identifiers=names, sensitive="income", identifiers=["name"], drop=["*"])


def published_twice(method: Method, place: Path, *, second: uc.Schema | None = None, **options: Any) -> uc.Run:
    """The run of a second release of the same people under one ledger."""
    ledger = uc.Ledger(place / "people.ledger")
    options = {"policy": "research", **options}
    uc.save(uc.publish(census(), schema(), method, ledger=ledger, policy="none"), place / "one")
    return uc.publish(census(), second or schema(), method, ledger=ledger, **options)


CROSS_BUCKET = {"safe": {}, "robust": {"robust": True}, "paper": {"variant": "paper"}}


@pytest.mark.parametrize("variant", CROSS_BUCKET)
def test_cross_bucket_twice_is_not_ready(variant: str, tmp_path: Path) -> None:
    """(k, l)-anonymity was not asked: 46 % were believed together where 20 % are promised, and it was Ready."""
    method = uc.CrossBucket(k=5, l=5, **CROSS_BUCKET[variant])
    run = published_twice(method, tmp_path)
    earlier = run.diagnostics["earlier"]
    (together,) = earlier["together"]
    assert together["together"]["highest"] > 1 / 5
    (claim,) = [one for one in together["claims"] if one["claim"]["name"] == "kl-anonymity"]
    assert (claim["holds"], claim["by_attack"]) == (None, False)
    assert run.verdict.title == "Do not publish"
    assert any("k = 5, l = 5 is exceeded" in reason.text for reason in run.verdict.weighing("stop"))


LIKENESS = {
    "t-closeness": uc.TCloseness(t=0.9),
    "ordered t-closeness": uc.TCloseness(t=0.45, distance="ordered"),
    "beta-likeness": uc.BetaLikeness(beta=60),
}


@pytest.mark.parametrize("promise", LIKENESS)
def test_likeness_to_the_whole_table_is_decided_across_releases(promise: str, tmp_path: Path) -> None:
    """t-closeness and β-likeness held for each release, did not hold together, and nobody asked them."""
    ledger = uc.Ledger(tmp_path / "people.ledger")
    by = [schema("age"), schema("age", "sex", "education")]
    uc.save(uc.publish(census(), by[0], uc.Mondrian(k=25), ledger=ledger, policy="none"), tmp_path / "one")
    again = {"require": [LIKENESS[promise]], "ledger": ledger, "policy": "research", "despite_earlier": True}
    run = uc.publish(census(), by[1], uc.Mondrian(k=25), **again)
    (together,) = run.diagnostics["earlier"]["together"]
    (claim,) = [one for one in together["claims"] if one["claim"]["name"] == LIKENESS[promise].name]
    assert claim["holds"] is not True
    assert run.verdict.title == "Do not publish"


def four() -> pa.Table:
    """By a everybody has two values, by b as well; by both everybody has one."""
    return pa.table({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "d": ["x", "y", "z", "x"], "name": ["A", "B", "C", "D"]})


def both_releases() -> JointBeliefs:
    """What both releases tell of the four, who are certain by having both."""
    both = uc.Schema(quasi_identifiers=["a", "b"], sensitive="d", identifiers=["name"])
    runs = [
        uc.publish(four(), replace(both, quasi_identifiers=(name,)), uc.Mondrian(k=2), policy="none") for name in "ab"
    ]
    found = overlap([run.release for run in runs], uc.Table.from_arrow(four(), both)).beliefs
    assert found is not None
    return found


@pytest.mark.parametrize(
    "promise",
    [
        uc.LDiversity(l=2),
        uc.LDiversity(l=2, form="distinct"),
        uc.LDiversity(l=1.5, form="entropy"),
        uc.LDiversity(l=2, form="recursive", c=2),
        uc.KLAnonymity(k=1, l=2),
        uc.TCloseness(t=0.4),
        uc.TCloseness(t=0.3, distance="ordered"),
        uc.TCloseness(t=0.3, distance="hierarchical", hierarchy=[("x", "1"), ("y", "1"), ("z", "2")]),
        uc.DeltaDisclosure(delta=5),
        uc.BetaLikeness(beta=0.5),
        uc.BetaLikeness(beta=9, enhanced=True),
    ],
    ids=lambda promise: promise.title(),
)
def test_everybody_certain_breaks_every_promise_about_values(promise: Any) -> None:
    """By both tables everybody's value is certain: that is a bound, so the answer is no."""
    assert holds_jointly(promise, both_releases()) is False


def test_the_holder_who_insists_is_told_not_to_publish(tmp_path: Path) -> None:
    """``despite_earlier`` recorded what does not hold and the verdict was Ready."""
    ledger = uc.Ledger(tmp_path / "people.ledger")
    roles = {"sensitive": "d", "identifiers": ["name"], "drop": ["*"]}
    one, two = (uc.Schema(quasi_identifiers=[name], **roles) for name in "ab")
    both = uc.Schema(quasi_identifiers=["a", "b"], columns={"a": uc.Column(weight=0.001)}, **roles)
    uc.save(uc.publish(four(), one, uc.Mondrian(k=2, l=2), ledger=ledger, policy="none"), tmp_path / "one")
    lenient = {"found": 1, "belief": "none", "singled_out": "none", "algorithm_safe": "ignored"}
    with pytest.raises(UnreachableError, match="l = 2 does not hold together with release 1"):
        uc.publish(four(), both, uc.Mondrian(k=2, l=2), ledger=ledger, policy=lenient)
    run = uc.publish(four(), both, uc.Mondrian(k=2, l=2), ledger=ledger, policy=lenient, despite_earlier=True)
    assert run.diagnostics["earlier"]["does_not_hold"]
    assert run.verdict.title == "Do not publish"
    assert {reason.kind for reason in run.verdict.weighing("stop")} == {"earlier releases"}
    assert uc.publish(four(), two, uc.Mondrian(k=2), policy=lenient).verdict.title == "Ready"


def test_a_guarantee_of_somebody_else_is_not_taken_for_kept(tmp_path: Path) -> None:
    """A promise that cannot say what it comes to across releases is for the holder to decide."""

    class Silent:
        name = "silent"

    assert holds_jointly(Silent(), both_releases()) is None  # type: ignore[arg-type]
    run = published_twice(uc.Mondrian(k=5), tmp_path, second=schema("age", "education"), despite_earlier=True)
    (together,) = run.diagnostics["earlier"]["together"]
    assert together["claims"][0]["holds"] is None  # k people who fit the same rows of both: fewer, and not decided
    assert any("is not decided" in reason.text for reason in run.verdict.weighing("ask"))


def skewed(rows: int = 4000) -> pa.Table:
    """Three in four are well; town and job each say a little of who is."""
    random = np.random.default_rng(3)
    ill = random.random(rows) < 0.25

    def telling() -> Any:
        return np.where(random.random(rows) < np.where(ill, 0.7, 0.3), "x", "y")

    town, job = telling(), telling()
    return pa.table({"town": town, "job": job, "ill": np.where(ill, random.choice(["flu", "gout"], rows), "no")})


def beside(policy: str) -> tuple[uc.Run, uc.Run]:
    tree = {"job": uc.Column(hierarchy=uc.Hierarchy([("x", "*"), ("y", "*")]))}
    roles = {"sensitive": "ill", "drop": ["*"]}
    first = uc.publish(skewed(), uc.Schema(quasi_identifiers=["town"], **roles), uc.Mondrian(k=5), policy=policy)
    own = uc.Schema(quasi_identifiers=["job"], columns=tree, **roles)
    method = uc.NonCentralized(l=2, others=[uc.published(first, name="town office")])
    return first, uc.publish(skewed(), own, method, policy=policy)


def test_a_belief_next_to_the_tables_of_others_is_judged() -> None:
    """Non-centralized printed that somebody can be 94 % sure, of most people, and was Ready."""
    first, run = beside("research")
    assert first.verdict.title == "Ready"
    alone = uc.attack(run)
    assert alone.after.attribute["ill"].max() < 0.9
    assert run.verdict.title == "Do not publish"
    (reason,) = run.verdict.weighing("stop")
    assert (reason.kind, reason.attack) == ("exposed", "tables-beside")
    assert "together with the tables of others" in reason.text
    assert reason.people is not None
    assert reason.people > 1000


def test_the_belief_next_to_others_is_what_the_holder_of_both_tables_finds() -> None:
    """Whoever is in the worst combination is believed to have his value as surely as the joint attack says."""
    first, run = beside("none")
    both = uc.Table.from_arrow(skewed(), uc.Schema(quasi_identifiers=["town", "job"], sensitive="ill"))
    truth = overlap([first.release, run.release], both).together.truth
    (found,) = [each for each in run.attacks if each.to_dict()["attack"] == "tables-beside"]
    (exposure,) = found.exposures()
    at_worst = np.empty(both.n_rows)
    at_worst[exposure.rows] = exposure.belief["ill"]
    assert (truth <= at_worst + 1e-9).all()
    in_worst = np.isclose(truth, at_worst)
    for job in ("x", "y"):  # of everybody in a class with a value, somebody is in the worst combination
        for value in ("no", "flu", "gout"):
            who = (np.array(skewed()["job"]) == job) & (np.array(skewed()["ill"]) == value)
            assert in_worst[who].any()


def test_too_many_combinations_with_others_are_asked_about(monkeypatch: pytest.MonkeyPatch) -> None:
    """What nobody worked out is for the holder to decide."""
    monkeypatch.setattr("undercover.attacks.joint.tables_beside.MOST_WORK", 1)
    _, run = beside("research")
    assert run.verdict.title == "Decide"
    assert any("was not worked out" in reason.text for reason in run.verdict.weighing("ask"))


def test_attacks_that_believe_something_of_each_person_say_so() -> None:
    """A belief that no exposure holds is not judged: minimality, matching of buckets and joint attacks had none."""
    run = uc.publish(census(400), schema(), uc.Mondrian(k=5, l=2), policy="none")
    for attacker, figures in ((uc.Minimality(), "informed"), (uc.BucketMatching(), "breach")):
        found = uc.attack(run, attacker)
        held = getattr(found, figures)
        (exposure,) = found.exposures()
        assert np.array_equal(exposure.belief["income"], held["income"] if figures == "breach" else held)
    both = uc.joint_attack([run, uc.publish(census(400), schema("age"), uc.Mondrian(k=5), policy="none")])
    (exposure,) = both.exposures()
    assert np.array_equal(exposure.belief["income"], both.together.truth)


def applied(first: pa.Table, second: pa.Table, method: Method, *, known: bool = True, **options: Any) -> uc.Run:
    roles = schema("age", "sex", "education")
    if not known:
        roles = replace(roles, identifiers=(), drop=("*",))
    return uc.apply(uc.publish(first, roles, method, policy="research"), second, **options)


def test_apply_to_people_who_were_published_before_is_judged(tmp_path: Path) -> None:
    """The recipe was applied to people of its first table: a warning of so many rows, and Ready."""
    people = census(3000)
    path = tmp_path / "first.csv"
    pc.write_csv(people.slice(0, 2000), path)
    method = uc.Mondrian(k=5, l=3)
    again = applied(path, people.slice(1500), method)  # type: ignore[arg-type]
    assert any("500 of the 1,500 rows have a `name`" in warning for warning in again.warnings)
    (together,) = again.diagnostics["earlier"]["together"]
    assert (together["people"], together["in"]) == (500, [0])
    assert again.verdict.title == "Do not publish"
    assert any("the release of the recipe" in reason.text for reason in again.verdict.weighing("stop"))
    others = applied(path, people.slice(2000), method)  # type: ignore[arg-type]
    assert "earlier" not in others.diagnostics
    assert others.verdict.title == "Ready"


def test_apply_without_identifiers_asks() -> None:
    """Who is in both tables nobody can say; it was Ready."""
    people = census(3000).drop_columns(["name"])
    again = applied(people.slice(0, 2000), people.slice(1500), uc.Mondrian(k=5), known=False)
    assert again.verdict.title == "Decide"
    assert any("nobody looked" in reason.text for reason in again.verdict.weighing("ask"))


def test_known_overlap_that_was_not_attacked_stops() -> None:
    """Where quasi-identifiers were drawn, nothing tells what two releases say together."""
    people = census(1000)
    again = applied(people.slice(0, 700), people.slice(400), uc.MutualCover(variant="paper", delta="1/2", l=2))
    assert any("cannot be worked out" in reason.text for reason in again.verdict.weighing("stop"))


def test_apply_withholds_what_must_not_be_published(undercover: Command, tmp_path: Path) -> None:
    """On the command line: exit code 5, and the tables are withheld."""
    people = census(2000)
    pc.write_csv(people.slice(0, 1500), tmp_path / "first.csv")
    pc.write_csv(people.slice(1000), tmp_path / "second.csv")
    roles = ["--qi", "age,sex,education", "--sensitive", "income", "--identifiers", "name", "--method", "mondrian"]
    asked = ["--set", "k=5", "--set", "l=3", "--policy", "research"]
    code, said = undercover("publish", tmp_path / "first.csv", *roles, *asked, "--out", tmp_path / "one")
    assert code == 0, said
    code, said = undercover("apply", tmp_path / "one", "--to", tmp_path / "second.csv", "--out", tmp_path / "two")
    assert code == 5, said
    assert (tmp_path / "two" / "withheld").is_dir()
    assert not (tmp_path / "two" / "public").exists()


def test_the_joint_attack_of_a_run_is_what_its_verdict_judges(tmp_path: Path) -> None:
    """What the attack on all releases believes of each person is held against the policy like any other belief."""
    run = published_twice(uc.Mondrian(k=5), tmp_path, second=schema("age", "education"), despite_earlier=True)
    (result,) = run.beside
    (exposure,) = result.exposures()
    assert exposure.belief["income"].max() == pytest.approx(
        run.diagnostics["earlier"]["together"][0]["together"]["truth_max"]
    )
    assert np.array_equal(exposure.rows, run.original.rows)  # type: ignore[union-attr]
