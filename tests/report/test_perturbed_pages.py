"""Report and datasheet of perturbed generalization: what they say, and that the recipient's code runs."""

import io
import re
from contextlib import redirect_stdout
from fractions import Fraction
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import undercover as uc
from undercover.forms import read
from undercover.forms.answers.sampling import sampling_of, sampling_words
from undercover.model.about import about_of
from undercover.model.channel import Channel
from undercover.model.figures import cost
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


def test_everybody_is_told_how_many_rows_there_are_and_what_that_does_to_counts(run: Any, tmp_path: Path) -> None:
    found, sizes = read(run.release).sampling, run.release.table()["G"].to_numpy()
    assert (found["published"], found["people"], found["asked"]) == (len(sizes), 2000, 200)
    assert found["error"] > found["error_of_all"] > 0
    sentences = " ".join(map(str, sampling_words(found)))
    assert sentences.startswith(f"{len(sizes)} of 2,000 rows are published. A row stands for as many people as `G`")
    assert f"an error of about {cost(found['error'])} people" in sentences
    folder = uc.save(run, tmp_path / "out")
    for page in ("private/report.html", "public/datasheet.html"):
        text = unescape(re.sub(r"<[^>]+>", "", (folder / page).read_text()))
        assert sentences.replace("`", "") in text, page
    top = (folder / "private/report.html").read_text().partition('<nav class="contents">')[0]
    assert f'<data value="{len(sizes)}">{len(sizes)}</data> of <data value="2000">2,000</data> rows' in top
    nothing = Channel(Fraction(0), ("flu", "cold"))
    assert "none can be counted" in str(sampling_words(sampling_of(sizes, nothing, "G"))[-1])


def test_the_error_is_that_of_counts_from_such_rows() -> None:
    random, sizes, domain, p = np.random.default_rng(5), np.repeat([2, 3, 7, 20], 40), 5, 0.4
    found = sampling_of(sizes, Channel(Fraction(2, 5), tuple("abcde")), "G")
    having = random.binomial(sizes, 0.1, size=(3000, len(sizes)))  # who has the value, by cell, of 3,000 tables
    kept = random.random(having.shape) < p
    seen = np.where(kept, random.random(having.shape) < having / sizes, random.random(having.shape) < 1 / domain)
    estimates = (sizes * (seen - (1 - p) / domain) / p).sum(axis=1)
    off = float((estimates - having.sum(axis=1)).std())
    assert off == pytest.approx(found["error"], rel=0.06)
    assert off != pytest.approx(found["error_of_all"], rel=0.3)


def test_words() -> None:
    driven = Release("perturbed-generalization", {"labels": "driven"}, (), False)
    assert "one person per cell only" in about_of("perturbed-generalization").did(driven)
    assert "Counted for one person" in promise_words("delta-growth", {"growth": 0.3, "k": 1})
    assert "paper's bound" in promise_words("delta-growth", {"growth": 0.3, "bound": "paper"})
    assert "provided" not in promise_words("delta-growth", {"growth": 0.3})
    assert promise_title("rho-breach", {"rho1": "1/5", "rho2": "9/20"}) == "0.2-to-0.45 guarantee"


def test_limits_name_the_skew(run: Any) -> None:
    assert any("more than 0.1 sure" in sentence for sentence in limits(run.release))
