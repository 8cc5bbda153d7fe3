"""Publishing people again: what a ledger lets pass, what it stops, and what is recorded."""

import json
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pc
import pytest

import undercover as uc
from undercover.errors import DataError, OutputError, ParameterError, SchemaError, UnreachableError
from undercover.guarantees.breach.composition import composed_growth, likelihood_ratio
from undercover.guarantees.requirements import guarantee_from_mapping
from undercover.io.release import folder
from undercover.pages.render import report_html
from undercover.verbs.ledger import enter_folder, entered
from undercover.verbs.report import summarize

pytestmark = pytest.mark.usefixtures("unjudged")

DOMAIN = tuple(str(value) for value in range(50))


@pytest.fixture
def ledger(tmp_path: Path) -> uc.Ledger:
    return uc.Ledger(tmp_path / "people.ledger")


def census(rows: int = 400) -> pa.Table:
    people = uc.datasets.census(rows, seed=1).select(["age", "sex", "education", "income"])
    return people.append_column("name", pa.array([f"Person {i}" for i in range(rows)]))


def census_schema(*quasi_identifiers: str) -> uc.Schema:
    names = quasi_identifiers or ("age", "sex")
    columns = {"income": uc.Column(kind="numeric", domain=DOMAIN)}
    return uc.Schema(quasi_identifiers=names, sensitive="income", identifiers=["name"], columns=columns)


def four() -> pa.Table:
    """By a everybody has two values, by b as well; by both everybody has one."""
    return pa.table({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "d": ["x", "y", "z", "x"], "name": ["A", "B", "C", "D"]})


def by(column: str) -> uc.Schema:
    return uc.Schema(quasi_identifiers=[column], sensitive="d", identifiers=["name"])


def saved(run: uc.Run, place: Path) -> uc.Run:
    """Saved and entered like ``uc.save``, without its report."""
    folder.save(run, place, around=lambda tables: entered(run, place, tables))
    return run


def test_two_perturbed_releases_are_stopped_with_the_numbers(ledger: uc.Ledger, tmp_path: Path) -> None:
    method = uc.PerturbedGeneralization(k=2, p=0.3)
    first = saved(uc.publish(census(), census_schema(), method, ledger=ledger), tmp_path / "first")
    (entry,) = ledger.entries()
    assert entry.likelihood_ratio == pytest.approx(
        likelihood_ratio(p=0.3, k=first.diagnostics["smallest_group"], domain=50)
    )
    with pytest.raises(
        UnreachableError, match=r"becomes 0\.\d+, where p alone promises 0\.548.*despite_earlier=True"
    ) as stopped:
        uc.publish(census(), census_schema(), method, ledger=ledger)
    assert "400 of the 400 rows (100.0%) are of people of release 1" in str(stopped.value)
    assert stopped.value.best["growth"] == pytest.approx(
        composed_growth(entry.likelihood_ratio * likelihood_ratio(p=0.3, k=2, domain=50))
    )
    others = census(800).slice(400)
    assert "earlier" not in uc.publish(others, census_schema(), method, ledger=ledger).diagnostics


def test_what_is_left_of_a_promise_is_used_and_stated(ledger: uc.Ledger, tmp_path: Path) -> None:
    saved(
        uc.publish(census(), census_schema(), uc.PerturbedGeneralization(k=6, growth=0.1), ledger=ledger),
        tmp_path / "first",
    )
    asked = uc.PerturbedGeneralization(k=6, growth=0.25)
    alone = uc.publish(census(), census_schema(), asked)
    second = uc.publish(census(), census_schema(), asked, ledger=ledger)
    (entry,) = ledger.entries()
    claim = second.release.guarantees[-1]
    assert claim["name"] == "delta-growth"
    assert claim["earlier"] == entry.likelihood_ratio
    assert second.diagnostics["p"] < alone.diagnostics["p"]
    ratio = entry.likelihood_ratio * likelihood_ratio(
        p=second.diagnostics["p"], k=second.diagnostics["smallest_group"], domain=50
    )
    assert composed_growth(ratio) == pytest.approx(0.25, abs=1e-6)
    assert claim["actual"] == pytest.approx(composed_growth(ratio))
    assert claim["actual"] <= 0.25
    assert uc.verify(second.release).holds
    keys = ("name", "growth", "p", "domain", "skew", "bound", "earlier")
    words = guarantee_from_mapping({key: claim[key] for key in keys}).meaning()
    assert "counts what was published of the same people before" in words
    assert second.diagnostics["earlier"]["releases"][0]["shared"] == 400
    third = uc.PerturbedGeneralization(k=6, growth=0.05)
    with pytest.raises(UnreachableError, match=r"growth=0\.05 leaves nothing for another release"):
        uc.publish(census(), census_schema(), third, ledger=ledger)
    rho = uc.PerturbedGeneralization(k=6, rho=(0.2, 0.21))
    with pytest.raises(UnreachableError, match=r"from 0.2 sure to 0\.\d+ sure: rho=\(0.2, 0.21\)"):
        uc.publish(census(), census_schema(), rho, ledger=ledger)


def test_another_column_makes_no_use_of_the_skew(ledger: uc.Ledger, tmp_path: Path) -> None:
    """Values of another column may stand for many of this one: nothing is assumed of the adversary then."""
    method = uc.PerturbedGeneralization(k=6, growth=0.1, skew=0.1)
    saved(uc.publish(census(), census_schema(), method, ledger=ledger), tmp_path / "first")
    again = uc.PerturbedGeneralization(k=6, growth=0.4, skew=0.1)
    assert uc.publish(census(), census_schema(), again, ledger=ledger).release.parameters["skew"] == 0.1
    columns = {"education": uc.Column(domain=tuple(sorted(set(census()["education"].to_pylist()))))}
    other = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="education", identifiers=["name"], columns=columns)
    assert uc.publish(census(), other, again, ledger=ledger).release.parameters["skew"] == 1


def test_a_table_that_cannot_be_perturbed_says_why(ledger: uc.Ledger, tmp_path: Path) -> None:
    method = uc.PerturbedGeneralization(k=6, growth=0.2)
    saved(uc.publish(census(), census_schema(), method, ledger=ledger), tmp_path / "first")
    nothing = uc.Schema(quasi_identifiers=["age"], identifiers=["name"])
    with pytest.raises(SchemaError, match="exactly one sensitive column"):
        uc.publish(census(), nothing, method, ledger=ledger)
    without_domain = uc.Schema(quasi_identifiers=["age"], sensitive="income", identifiers=["name"])
    with pytest.raises(SchemaError, match="declared public domain"):
        uc.publish(census(), without_domain, method, ledger=ledger)


def test_true_values_before_leave_nothing_to_promise(ledger: uc.Ledger, tmp_path: Path) -> None:
    saved(uc.publish(census(), census_schema(), uc.Mondrian(k=5), ledger=ledger), tmp_path / "first")
    perturbed = uc.PerturbedGeneralization(k=6, growth=0.5)
    with pytest.raises(UnreachableError, match="does not limit how sure anybody becomes"):
        uc.publish(census(), census_schema(), perturbed, ledger=ledger)
    despite = uc.publish(census(), census_schema(), perturbed, ledger=ledger, despite_earlier=True)
    assert "earlier" not in despite.release.guarantees[-1]
    assert any(warning.startswith("Published despite earlier releases") for warning in despite.warnings)


def test_true_values_after_break_an_earlier_promise(ledger: uc.Ledger, tmp_path: Path) -> None:
    perturbed = uc.PerturbedGeneralization(k=6, growth=0.2)
    saved(uc.publish(census(), census_schema(), perturbed, ledger=ledger), tmp_path / "first")
    with pytest.raises(UnreachableError, match="does not hold beside a release that gives no such limit"):
        uc.publish(census(), census_schema(), uc.Mondrian(k=5), ledger=ledger)


def test_two_tables_that_make_people_certain_together(ledger: uc.Ledger, tmp_path: Path) -> None:
    method = uc.Mondrian(k=2, l=2)
    saved(uc.publish(four(), by("a"), method, ledger=ledger), tmp_path / "by-a")
    both = uc.Schema(
        quasi_identifiers=["a", "b"], sensitive="d", identifiers=["name"], columns={"a": uc.Column(weight=0.001)}
    )
    with pytest.raises(UnreachableError) as stopped:
        uc.publish(four(), both, method, ledger=ledger)
    # By intersection A and D; subtracting them from their classes leaves one value for B and C as well.
    assert "Of 4 of 4 people `d` becomes certain by having it together with release 1" in str(stopped.value)
    assert "l = 2 does not hold together with release 1" in str(stopped.value)
    assert not (tmp_path / "second").exists()
    run = uc.publish(four(), both, method, ledger=ledger, despite_earlier=True)
    (found,) = run.diagnostics["earlier"]["together"]
    assert (found["newly_certain"], found["together"]["certain"], found["in"]) == (4, 4, [1])
    uc.save(run, tmp_path / "second")
    written = json.loads((tmp_path / "second" / "private" / "run.json").read_text())
    assert written["diagnostics"]["earlier"]["despite"] is True
    public = "".join(path.read_text() for path in (tmp_path / "second" / "public").iterdir())
    assert "earlier" not in public
    assert "ledger" not in public


def test_the_report_names_earlier_releases_and_what_they_tell_and_the_public_part_does_not(
    ledger: uc.Ledger, tmp_path: Path
) -> None:
    saved(uc.publish(four(), by("a"), uc.Mondrian(k=2), ledger=ledger), tmp_path / "first")
    both = uc.Schema(
        quasi_identifiers=["a", "b"], sensitive="d", identifiers=["name"], columns={"a": uc.Column(weight=0.001)}
    )
    run = uc.publish(four(), both, uc.Mondrian(k=2), ledger=ledger, despite_earlier=True)
    (together,) = run.diagnostics["earlier"]["together"]
    assert [entry["alone"]["k"] for entry in together["releases"]] == [2, 2]
    assert (together["together"]["k"], together["together"]["l"]) == (1, 1)
    uc.save(run, tmp_path / "second")
    report = (tmp_path / "second" / "private" / "report.html").read_text()
    made = run.diagnostics["earlier"]["releases"][0]["made"][:10]
    section = report[report.index("Earlier releases of the same people") :]
    for told in ("1, mondrian", made, "What is learnt of them by having all", "Does not hold: ", "becomes certain"):
        assert told in section
    figures = json.loads((tmp_path / "second" / "private" / "report.json").read_text())
    assert figures["earlier"]["together"][0]["together"]["k"] == 1
    for public in (tmp_path / "second" / "public").iterdir():
        assert "arlier releases" not in public.read_text()
    alone = uc.publish(four(), by("a"), uc.Mondrian(k=2))
    assert "Earlier releases" not in report_html(summarize(alone))


def test_the_same_table_again_says_nothing_new(ledger: uc.Ledger, tmp_path: Path) -> None:
    method = uc.Mondrian(k=2, l=2)
    saved(uc.publish(four(), by("a"), method, ledger=ledger), tmp_path / "one")
    again = uc.publish(four(), by("a"), method, ledger=ledger)
    assert again.diagnostics["earlier"]["does_not_hold"] == []
    assert any("4 of the 4 rows (100.0%)" in warning for warning in again.warnings)


def test_only_those_in_both_are_attacked_together(ledger: uc.Ledger, tmp_path: Path) -> None:
    method = uc.Mondrian(k=5)
    saved(uc.publish(census(400), census_schema("age"), method, ledger=ledger), tmp_path / "one")
    saved(
        uc.publish(census(600).slice(300), census_schema("sex"), method, ledger=ledger, despite_earlier=True),
        tmp_path / "two",
    )
    run = uc.publish(census(700).slice(200), census_schema("age", "sex"), method, ledger=ledger, despite_earlier=True)
    attacked = {tuple(entry["in"]): entry["people"] for entry in run.diagnostics["earlier"]["together"]}
    assert attacked == {(1,): 100, (1, 2): 100, (2,): 200}


def test_a_release_that_is_gone_counts_as_not_held(ledger: uc.Ledger, tmp_path: Path) -> None:
    method = uc.Mondrian(k=2, l=2)
    saved(uc.publish(four(), by("a"), method, ledger=ledger), tmp_path / "one")
    os.rename(tmp_path / "one", tmp_path / "moved")
    with pytest.raises(UnreachableError, match="cannot be looked at: It is no longer in"):
        uc.publish(four(), by("a"), method, ledger=ledger)
    saved(uc.publish(four(), by("b"), method), tmp_path / "one")
    with pytest.raises(UnreachableError, match="holds another release now"):
        uc.publish(four(), by("a"), method, ledger=ledger)


def test_drawn_quasi_identifiers_cannot_be_judged(ledger: uc.Ledger, tmp_path: Path) -> None:
    method = uc.MutualCover(variant="paper", delta="1/2", l=2)
    saved(uc.publish(census(), census_schema(), method, ledger=ledger), tmp_path / "one")
    with pytest.raises(UnreachableError, match="cannot be worked out: Its quasi-identifiers were drawn"):
        uc.publish(census(), census_schema(), method, ledger=ledger)


def test_a_release_that_cannot_be_written_is_not_entered(ledger: uc.Ledger, tmp_path: Path) -> None:
    run = uc.publish(four(), by("a"), uc.Mondrian(k=2), ledger=ledger)
    (tmp_path / "no").write_text("a file")
    with pytest.raises(OutputError):
        uc.save(run, tmp_path / "no" / "such" / "folder")
    assert ledger.entries() == ()
    assert uc.publish(four(), by("a"), uc.Mondrian(k=2)).entry is None


def test_publishing_at_once(ledger: uc.Ledger, tmp_path: Path) -> None:
    runs = [uc.publish(four(), by(column), uc.Mondrian(k=2, l=2), ledger=ledger) for column in "ab"]
    saved(runs[0], tmp_path / "one")
    with pytest.raises(OutputError, match="in the meantime"):
        saved(runs[1], tmp_path / "two")
    assert not (tmp_path / "two").exists()


def test_a_release_that_comes_while_another_is_made(ledger: uc.Ledger, tmp_path: Path) -> None:
    """Who looked into the ledger before it was entered does not know of it, however long the work took."""
    first = uc.publish(four(), by("a"), uc.Mondrian(k=2, l=2), ledger=ledger)

    def meanwhile(stage: str, share: float) -> None:
        if stage.startswith("anonymising") and not ledger.entries():
            saved(first, tmp_path / "one")

    second = uc.publish(four(), by("b"), uc.Mondrian(k=2, l=2), ledger=ledger, progress=meanwhile)
    assert len(ledger.entries()) == 1
    with pytest.raises(OutputError, match="in the meantime"):
        saved(second, tmp_path / "two")


def test_a_folder_made_without_a_ledger_is_entered(ledger: uc.Ledger, tmp_path: Path) -> None:
    path = tmp_path / "four.csv"
    pc.write_csv(four(), path)
    saved(uc.publish(path, by("a"), uc.Mondrian(k=2, l=2)), tmp_path / "one")
    entry = enter_folder(ledger, tmp_path / "one")
    assert (entry.number, entry.people, entry.known_by) == (1, 4, [["name"]])
    assert [found.shared for found in ledger.before(four()).earlier] == [4]
    path.write_text("name,a,b,d\nE,0,0,x\n")
    saved(uc.publish(four(), by("b"), uc.Mondrian(k=2, l=2)), tmp_path / "two")
    with pytest.raises(DataError, match="Give it: original=…"):
        enter_folder(ledger, tmp_path / "two")
    with pytest.raises(DataError, match="is release 1 of the ledger"):
        enter_folder(ledger, tmp_path / "one")
    assert enter_folder(ledger, tmp_path / "two", original=four()).number == 2


def test_suppressed_and_dropped_rows_are_not_entered(ledger: uc.Ledger, tmp_path: Path) -> None:
    people = four().set_column(0, "a", pa.array([0, 0, None, None]))
    schema = uc.Schema(quasi_identifiers=["a"], sensitive="d", identifiers=["name"], missing="drop")
    saved(uc.publish(people, schema, uc.Mondrian(k=2), ledger=ledger), tmp_path / "one")
    (earlier,) = ledger.before(four()).earlier
    assert earlier.shared == 2


def parameters_refused() -> list[Any]:
    return [
        ({"rho": (0, 0.3)}, "With rho1 = 0"),
        ({"rho": (0.2, 1)}, "is no limit for PerturbedGeneralization"),
        ({"rho": (0.3, 0.3)}, "0 < rho1 < rho2 < 1"),
        ({"rho": (0.4, 0.3)}, "0 < rho1 < rho2 < 1"),
        ({"rho": "0,0.3"}, "With rho1 = 0"),
        ({"growth": 1}, "is no limit for PerturbedGeneralization"),
        ({"growth": 0}, r"must be a number in \(0, 1\]"),
        ({"growth": 0.2, "skew": 0}, r"must be a number in \(0, 1\]"),
        ({"growth": 0.2, "earlier": 0.5}, r"must be a number in \[1, inf\)"),
    ]


@pytest.mark.parametrize(("given", "why"), parameters_refused())
def test_parameters_that_promise_nothing_are_refused(given: dict[str, Any], why: str) -> None:
    with pytest.raises(ParameterError, match=why):
        uc.PerturbedGeneralization(k=6, **given)


def test_a_skew_the_domain_cannot_have_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"\[1/50, 1\]"):
        uc.publish(census(), census_schema(), uc.PerturbedGeneralization(k=6, growth=0.2, skew=0.01))


def test_true_values_are_said_to_be_true() -> None:
    run = uc.publish(census(), census_schema(), uc.PerturbedGeneralization(k=6, p=1))
    assert any("p = 1 publishes true values" in warning for warning in run.warnings)
    run = uc.publish(census(), census_schema(), uc.PerturbedGeneralization(k=6, p=0.3))
    assert not any("p = 1" in warning for warning in run.warnings)
