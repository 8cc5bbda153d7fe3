"""Seventeen of twenty forged folders used to pass. Each is first shown to verify as it is, then forged, then told."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from received import METHODS, PEOPLE, WITH_HOSPITAL, made, rows_of, saved, write_rows
from typer.testing import CliRunner

import undercover as uc
from undercover.cli.main import app
from undercover.guarantees import verify as verifying
from undercover.model.release import STATEMENTS
from undercover.testing.forged import FORGERIES, Folder, check_forged, forged

pytestmark = pytest.mark.usefixtures("unjudged")

QUASI = ["age", "sex", "zip"]
FORMS = ("mondrian", "anatomy", "mutual-cover", "perturbed", "cross-bucket", "dealt")
NOT_CHECKABLE = {"mutual-cover"}  # all it promises needs the private run
NOT_THERE = {
    "a guarantee that needs the private run": {"mutual-cover", "dealt"},
    **{
        f"row numbers {how}": {"mutual-cover", "perturbed", "cross-bucket", "dealt"}
        for how in ("for values", "in steps", "in texts", "with gaps")
    },
    "one guarantee of several removed": {"anatomy", "mutual-cover", "dealt"},
    "another p claimed": set(FORMS) - {"perturbed"},
    "another p used": set(FORMS) - {"perturbed"},
    "another p in the form": set(FORMS) - {"perturbed"},
    "dealt values called own": set(FORMS) - {"dealt"},
    "values dealt among more": set(FORMS) - {"dealt"},
}


@pytest.mark.parametrize("method", FORMS)
@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_folder_is_told(method: str, name: str, tmp_path: Path) -> None:
    public = saved(method, tmp_path) / "public"
    assert uc.verify(public).holds is (None if method in NOT_CHECKABLE else True)
    said = forged(public, name)
    if method in NOT_THERE.get(name, ()):
        assert said is None
    else:
        assert said


def test_every_forgery_is_tried_on_some_form_and_most_on_three() -> None:
    tried = {name: len(set(FORMS) - NOT_THERE.get(name, set())) for name in FORGERIES}
    assert min(tried.values()) >= 1
    assert {name for name, count in tried.items() if count < 3} <= set(NOT_THERE)


def test_every_row_with_another_value_is_told_and_does_not_fail(tmp_path: Path) -> None:
    """Exact salaries are honestly all different."""
    data = PEOPLE.append_column("salary", pa.array([(i * 7919) % 100_003 for i in range(240)]))
    run = uc.publish(data, uc.Schema(quasi_identifiers=["age"], sensitive="salary"), uc.Mondrian(k=5, l=2), seed=1)
    found = uc.verify(uc.save(run, tmp_path / "out") / "public")
    assert found.holds
    assert any("Every row has another value of `salary`" in note for note in found.notes)
    assert not any("Every row" in note for note in uc.verify(saved("mondrian", tmp_path) / "public").notes)


def test_a_verifier_that_looks_past_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    check_forged(made("mondrian").release)
    monkeypatch.setattr(verifying, "misfits", lambda release: [])
    with pytest.raises(AssertionError, match="structure"):
        check_forged(made("mondrian").release)


def sealed(folder: Folder) -> Path:
    folder.seal()
    return folder.place


def test_raw_rows_that_are_said_to_stand_for_a_thousand_people_each(tmp_path: Path) -> None:
    """The form of a drawn row for many people, on a table that is nothing of the kind: k = 1000 used to hold."""
    folder = Folder(saved("mondrian-k", tmp_path) / "public")
    folder.add_column("G", "structure", lambda row: 1000)
    folder.content["form"] = {"name": "perturbed", "keep": 0.3, "domain": ["flu", "cold"]}
    folder.content["guarantees"] = [
        {
            "name": "k-anonymity",
            "k": 1000,
            "required": 1000,
            "actual": 1000,
            "holds": True,
            "columns": ["age", "sex", "zip"],
        }
    ]
    folder.asked["k"] = 1000
    found = uc.verify(sealed(folder))
    assert found.holds is False
    assert any("the parameters of the method say nothing of it" in problem for problem in found.problems)
    assert any("published more than once" in problem for problem in found.problems)


def test_what_a_row_of_many_people_says_is_told_to_be_the_holders_word(tmp_path: Path) -> None:
    assert any("holder says" in note for note in uc.verify(saved("perturbed", tmp_path) / "public").notes)


def test_relabelled_quasi_identifiers_are_told_by_their_cells(tmp_path: Path) -> None:
    """Also where the promises were edited along; an honest column of ranges looks the same, so it is a note."""
    folder = Folder(saved("mondrian-k", tmp_path) / "public")
    rest = folder.columns("quasi-identifier")[1:]
    folder.columns("quasi-identifier")[0].update(role="insensitive", form="value")
    folder.claims[0]["columns"] = [column["name"] for column in rest]
    found = uc.verify(sealed(folder))
    assert any("most of its cells are ranges or sets" in note for note in found.notes)
    assert "Published unchanged; no promise covers it, and an attacker is taken to know it: `age`." in found.notes


def test_no_quasi_identifier_at_all(tmp_path: Path) -> None:
    folder = Folder(saved("mondrian-k", tmp_path) / "public")
    for column in folder.columns("quasi-identifier"):
        column["role"] = "insensitive"
    assert any("At least one quasi-identifier" in problem for problem in uc.verify(sealed(folder)).problems)


def test_a_promise_of_drawn_values_where_none_was_drawn(tmp_path: Path) -> None:
    claim = {"name": "delta-probability", "delta": "1/5", "required": 0.2, "actual": 0.1, "holds": True}
    claim |= {"needs": "private", "columns": ["age", "sex", "zip"]}
    for method in ("mondrian", "anatomy", "cross-bucket"):
        folder = Folder(saved(method, tmp_path) / "public")
        folder.claims.append(claim)
        found = uc.verify(sealed(folder))
        assert found.holds is False
        assert any("No value of this release was drawn" in failure.note for failure in found.failures)


@pytest.mark.parametrize("form", [{"keep": "much"}, {"keep": "7"}, {"keep": "1/0"}])
def test_a_channel_that_is_none(form: dict[str, Any], tmp_path: Path) -> None:
    folder = Folder(saved("perturbed", tmp_path) / "public")
    folder.content["form"].update(form)
    assert any("no probability" in problem for problem in uc.verify(sealed(folder)).problems)


def test_nothing_is_verified_where_nothing_was_promised(tmp_path: Path) -> None:
    folder = Folder(saved("mondrian-k", tmp_path) / "public")
    folder.content["guarantees"], folder.content["method"]["parameters"] = [], {}
    assert uc.verify(sealed(folder)).holds is False  # the datasheet tells of promises
    folder.drop_datasheet()
    found = uc.verify(sealed(folder))
    assert found.holds is False
    assert any("mondrian needs `k`" in problem for problem in found.problems)
    release = replace(made("mondrian-k").release, guarantees=(), parameters={})
    found = uc.verify(release)
    assert found.holds is None
    assert found.said == "nothing was promised, so nothing was verified"
    assert found.to_dict()["holds"] is None
    assert uc.verify(release, also=[uc.KAnonymity(k=5)]).holds


@pytest.mark.parametrize("method", METHODS)
def test_what_a_recipient_cannot_check_is_open_and_the_columns_are_said(method: str, tmp_path: Path) -> None:
    out = saved(method, tmp_path)
    public, whole = uc.verify(out / "public"), uc.verify(out)
    assert public.to_dict()["stated"] == {key: {"holds": None} for key in STATEMENTS}
    assert whole.to_dict()["stated"] == {key: {"holds": True} for key in STATEMENTS}
    assert all(set(entry["columns"]) >= {"age", "sex", "zip"} for entry in public.to_dict()["guarantees"])
    assert any("not who wrote it" in note for note in public.notes)
    recorded = json.loads((out / "public" / "release.json").read_text("utf-8"))["guarantees"]
    assert [entry["columns"] for entry in recorded] == [list(finding.columns) for finding in public.findings]


def test_every_public_file_is_hashed(tmp_path: Path) -> None:
    for method in ("mondrian", "anatomy"):
        public = saved(method, tmp_path) / "public"
        manifest = json.loads((public / "release.json").read_text("utf-8"))
        files = [path for path in public.iterdir() if path.name != "release.json"]
        assert manifest["files"] == {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_the_command_line_says_so_and_leaves_with_four(tmp_path: Path) -> None:
    def verify(*words: object) -> tuple[int, str]:
        done = CliRunner().invoke(app, ["verify", *map(str, words)])
        return done.exit_code, done.stdout

    public = saved("mondrian-k", tmp_path) / "public"
    code, said = verify(public)
    assert (code, said.rstrip().endswith("verified")) == (0, True)
    assert "k-anonymity speaks of `age`, `sex`, `zip`." in said
    assert "algorithm_safe: the holder's word; no published table shows it." in said
    folder = Folder(public)
    folder.content["guarantees"] = []
    code, said = verify(sealed(folder))
    assert (code, "VERIFICATION FAILED" in said) == (4, True)
    folder.content["method"] = {"name": "unheard-of", "parameters": {}}
    folder.drop_datasheet()
    code, said = verify(sealed(folder))
    assert (code, "NOT VERIFIED: what the release says of its making cannot be checked here" in said) == (6, True)
    assert json.loads(verify(folder.place, "--json")[1])["holds"] is None


def test_drawn_values_alone_are_never_called_verified(tmp_path: Path) -> None:
    out = saved("mutual-cover", tmp_path)
    done = CliRunner().invoke(app, ["verify", str(out / "public")])
    assert (done.exit_code, done.stdout.rstrip().splitlines()[-1]) == (
        6,
        "NOT VERIFIED: nothing of what was promised can be checked from what is here; it needs the private run",
    )
    assert CliRunner().invoke(app, ["verify", str(out)]).stdout.rstrip().endswith("verified")


Change = Callable[[list[list[str]], int], None]


def one(rows: list[list[str]], at: int) -> None:
    rows[3][at] = {"A": "B", "B": "C", "C": "A"}[rows[3][at]]


def nobodys(rows: list[list[str]], at: int) -> None:
    rows[5][at] = "Z"


def swapped(rows: list[list[str]], at: int) -> None:
    # Whose bucket is whose within a class nobody but the holder knows.
    classes = ["bucket" in rows[0] and row[:3] == rows[1][:3] for row in rows]
    other = next(i for i in range(2, len(rows)) if rows[i][at] != rows[1][at] and not classes[i])
    rows[1][at], rows[other][at] = rows[other][at], rows[1][at]


WITH_HOSPITALS = ("mondrian", "mondrian-k", "anatomy", "mutual-cover", "cross-bucket", "streamliner")


@pytest.mark.parametrize("method", WITH_HOSPITALS)
@pytest.mark.parametrize("change", [one, nobodys, swapped])
def test_changed_insensitive_cells_are_found_against_the_original(method: str, change: Change, tmp_path: Path) -> None:
    """Eighteen of eighteen; there were none."""
    public = saved(method, tmp_path, hospital=True) / "public"
    before = uc.verify(public, original=PEOPLE, schema=WITH_HOSPITAL)
    assert before.holds is not False
    assert ("insensitive-values-preserved", True) in [(finding.name, finding.holds) for finding in before.findings]
    folder = Folder(public)
    path = public / folder.content["tables"][0]["file"]
    rows = rows_of(path)
    change(rows, rows[0].index("hospital"))
    write_rows(path, rows)
    after = uc.verify(sealed(folder), original=PEOPLE, schema=WITH_HOSPITAL)
    assert [failure.name for failure in after.failures] == ["insensitive-values-preserved"]


def test_insensitive_cells_that_change_places_within_a_value_are_found_by_the_class_or_the_run(tmp_path: Path) -> None:
    """Rows with the same disease in different classes: no count of values tells, the class or the private run does."""
    for method in ("mondrian-k", "mutual-cover"):
        out = saved(method, tmp_path, hospital=True)
        path = out / "public" / "table.csv"
        rows = rows_of(path)
        ill, at = rows[0].index("disease"), rows[0].index("hospital")
        first, other = next(
            (one, two)
            for one in rows[1:]
            for two in rows[1:]
            if one[ill] == two[ill] and one[at] != two[at] and one[:ill] != two[:ill]
        )
        first[at], other[at] = other[at], first[at]
        write_rows(path, rows)
        found = uc.verify(out, original=PEOPLE, schema=WITH_HOSPITAL)
        assert [failure.name for failure in found.failures] == ["insensitive-values-preserved"]
