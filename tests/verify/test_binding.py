"""A private run is bound to what it wrote into the public folder: ``verify DIR`` tells whatever differs."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from received import saved
from typer.testing import CliRunner

import undercover as uc
from undercover.cli.main import app
from undercover.errors import VerificationError
from undercover.io.release.before_forms import OLD
from undercover.testing.forged import Folder

pytestmark = pytest.mark.usefixtures("unjudged")

CHANGES: dict[str, tuple[Callable[[Folder], Any], str]] = {
    "k in parameters and promise": (
        lambda folder: (folder.asked.update(k=2), folder.claims[0].update(k=2, required=2)),
        "`method`",
    ),
    "a promise less": (lambda folder: folder.claims.pop(), "`guarantees`"),
    "another form": (lambda folder: folder.content["form"].update(one_level=True), "`form`"),
    "another role": (
        lambda folder: folder.columns("quasi-identifier")[1].update(role="insensitive", form="value"),
        "Column `sex` is published as insensitive; in the private run it was quasi-identifier",
    ),
    "a column more": (
        lambda folder: folder.add_column("name", "insensitive", lambda row: f"person {row}"),
        "Column `name` is published as insensitive; in the private run it had no role",
    ),
    "algorithm_safe and its warning": (
        lambda folder: folder.content.update(algorithm_safe=True, warnings=[]),
        "`algorithm_safe`",
    ),
    "suppressed rows": (lambda folder: folder.content.update(suppressed_rows=3), "`suppressed_rows`"),
    "another version": (lambda folder: folder.content.update(undercover="9"), "`undercover`"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_differs_from_the_private_run_is_told(name: str, tmp_path: Path) -> None:
    out = saved("mondrian", tmp_path)
    assert uc.verify(out).holds
    change, told = CHANGES[name]
    folder = Folder(out / "public")
    change(folder)
    folder.seal()
    found = uc.verify(out)
    assert found.holds is False
    assert any(told in problem for problem in found.problems), found.problems


@pytest.mark.parametrize("method", ["mondrian", "anatomy", "mutual-cover"])
def test_a_table_that_was_changed_and_hashed_anew_is_told(method: str, tmp_path: Path) -> None:
    out = saved(method, tmp_path)
    folder = Folder(out / "public")
    path = out / "public" / folder.content["tables"][0]["file"]
    lines = path.read_text("utf-8").splitlines(keepends=True)
    path.write_text("".join([lines[0], *lines[2:], lines[1]]), "utf-8")
    folder.seal()
    assert uc.verify(out / "public").holds is not False
    assert any("`files` in release.json" in problem for problem in uc.verify(out).problems)


def test_a_recipe_is_not_taken_from_a_folder_that_was_changed(tmp_path: Path) -> None:
    out = saved("mondrian", tmp_path)
    folder = Folder(out / "public")
    folder.content["algorithm_safe"] = True
    folder.seal()
    with pytest.raises(VerificationError, match="algorithm_safe"):
        uc.apply(out, uc.datasets.census(100))
    assert any("algorithm_safe" in warning for warning in uc.load(out).warnings)


def make_old(out: Path) -> None:
    """The folder as an earlier version wrote it: no hashes, columns of promises or data package, nothing in the run."""
    (out / "public" / "datapackage.json").unlink()
    page = out / "public" / "datasheet.html"
    page.write_text(re.sub(r'<meta name="template" content="\w+">\n', "", page.read_text("utf-8")), "utf-8")
    later = ("layout", "files", "corruption_robust")
    for path, keys in ((out / "public" / "release.json", later), (out / "private" / "run.json", ("release",))):
        content = json.loads(path.read_text("utf-8"))
        for key in keys:
            del content[key]
        for entry in content.get("guarantees", ()):
            del entry["columns"]
        path.write_text(json.dumps(content), "utf-8")


@pytest.mark.parametrize("method", ["mondrian", "anatomy", "mutual-cover", "perturbed", "cross-bucket"])
def test_old_releases_still_verify_and_say_what_is_not_covered(method: str, tmp_path: Path) -> None:
    out = saved(method, tmp_path)
    make_old(out)
    for target in (out, out / "public"):
        refused = uc.verify(target)
        assert refused.holds is False
        assert ["old layout" in problem for problem in refused.problems] == [True]
        assert CliRunner().invoke(app, ["verify", str(target)]).exit_code == 4
        found = uc.verify(target, allow_old=True)
        untold = method == "mutual-cover" and target != out
        assert found.holds is (None if untold else True), found.problems
        assert OLD in found.notes
        assert found.old
        assert found.to_dict()["old"] is True
        assert found.view().verdict == ("bad" if untold else "plain")
        done = CliRunner().invoke(app, ["verify", str(target), "--allow-old"])
        assert done.exit_code == (6 if untold else 0)
        said = " ".join(done.output.split())
        assert "OLD RELEASE, or one whose manifest was cut down" in said
        assert not said.endswith(" verified")
    assert uc.verify(out, allow_old=True).stated == {"algorithm_safe": None, "corruption_robust": None}


def test_a_release_of_this_version_is_not_old(tmp_path: Path) -> None:
    found = uc.verify(saved("mondrian", tmp_path) / "public")
    assert not found.old
    assert found.said == "everything holds"


def test_old_releases_are_held_to_what_they_say(tmp_path: Path) -> None:
    out = saved("mondrian", tmp_path)
    make_old(out)
    (out / "public" / "raw.csv").write_text("name\nAda\n")
    assert any("`raw.csv`" in problem for problem in uc.verify(out / "public").problems)
    (out / "public" / "raw.csv").unlink()
    folder = Folder(out / "public")
    folder.columns("quasi-identifier")[0].update(role="insensitive", form="value")
    (out / "public" / "release.json").write_text(json.dumps(folder.content))
    assert any("in the private run it was quasi-identifier" in problem for problem in uc.verify(out).problems)
