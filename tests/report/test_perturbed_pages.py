"""Report and datasheet of perturbed generalization: what they say, and that the recipient's code runs."""

import io
import re
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest

import undercover as uc
from undercover.model.about import about_of
from undercover.model.release import Release
from undercover.pages.datasheet import datasheet_summary
from undercover.pages.words import limits, promise_title, promise_words

pytestmark = pytest.mark.usefixtures("all_drawn", "unjudged")


@pytest.fixture(scope="module")
def run() -> Any:
    people, schema = uc.datasets.census(2000, seed=3), uc.datasets.census_schema(["age", "sex"], hierarchies=False)
    return uc.publish(people, schema, uc.PerturbedGeneralization(k=6, rho=(0.2, 0.45), skew=0.1))


def test_the_holder_sees_what_corruption_does(run: Any, tmp_path: Path) -> None:
    page = uc.report(run, tmp_path / "report.html").read_text()
    assert "<h3>Corruption</h3>" in page
    assert "No confidence rises by more than is promised." in page
    assert "One release per table" in page
    assert "p = 0.35" in page


def test_the_recipient_is_told_how_values_came_about(run: Any) -> None:
    found = datasheet_summary(run.release)
    assert "kept with probability p" in found["method"]["words"]
    assert "used" not in found["method"]["parameters"]
    titles = [entry["title"] for entry in found["guarantees"]]
    assert titles == ["6-anonymity", "Disjoint cells", "0.2-to-0.45 guarantee", "0.282-growth guarantee"]
    assert all(entry["words"] for entry in found["guarantees"])
    assert any("One release per table" in sentence for sentence in found["limits"])
    assert "G" in [column["name"] for column in found["tables"][0]["columns"]]
    assert not any("exact" in snippet["text"] for snippet in found["snippets"])


def test_the_snippets_run_and_count_right(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    uc.save(run, tmp_path / "out")
    monkeypatch.chdir(tmp_path / "out" / "public")
    code = "\n".join(snippet["code"] for snippet in datasheet_summary(run.release)["snippets"])
    printed = io.StringIO()
    place: dict[str, Any] = {}
    with redirect_stdout(printed):
        exec(code, place)
    estimate = uc.PerturbedCounts(run.release).count({"income": int(place["value"])})
    # Whole people: the nearest number, and where the estimate lies between two of them either.
    shown = int(re.search(r"about (-?\d+) people", printed.getvalue())[1])
    assert abs(shown - estimate.value) <= 0.5 + 1e-3
    assert abs(place["spread"] / estimate.standard_error - 1) < 0.05


def test_words() -> None:
    driven = Release("perturbed-generalization", {"labels": "driven"}, (), False)
    assert "one person per cell only" in about_of("perturbed-generalization").did(driven)
    assert "Counted for one person" in promise_words("delta-growth", {"growth": 0.3, "k": 1})
    assert "paper's bound" in promise_words("delta-growth", {"growth": 0.3, "bound": "paper"})
    assert "provided" not in promise_words("delta-growth", {"growth": 0.3})
    assert promise_title("rho-breach", {"rho1": "1/5", "rho2": "9/20"}) == "0.2-to-0.45 guarantee"


def test_limits_name_the_skew(run: Any) -> None:
    assert any("more than 0.1 sure" in sentence for sentence in limits(run.release))
