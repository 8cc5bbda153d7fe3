"""``undercover demo``: a small tour, whole or not there, whose table agrees with its pages."""

import json
import os
import re
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from undercover.io.release.contents import public_part
from undercover.io.release.manifest import load_release
from undercover.studies import drawing, tour
from undercover.studies.tour import OVERVIEW, stops
from undercover.verbs.verify import verify

Command = Callable[..., Any]
TOUR = [stop for _, stop in stops()]
FOLDERS = [
    "mondrian-k10",
    "mondrian-k10-hierarchies",
    "mondrian-k5-l5",
    "incognito-k10",
    "anatomy-l8",
    "streamliner-l8",
    "streamliner-l8-guided",
    "perturbed-k6-rho",
    "cross-bucket-k3-l8",
    "mutual-cover-5-l10",
    "office-revenue",
    "office-census-alone",
    "office-census",
]
TITLES = ("Ready", "Decide", "Do not publish")
VERDICTS = {  # those that do not depend on who was drawn
    "mondrian-k5-l5": ("Decide",),  # its cuts depend on incomes
    "anatomy-l8": ("Do not publish",),  # quasi-identifiers stay as they are
    "streamliner-l8": ("Ready",),
    "streamliner-l8-guided": ("Ready",),
    "perturbed-k6-rho": ("Ready",),
    "cross-bucket-k3-l8": ("Do not publish",),  # a row is found with 1/3
    "mutual-cover-5-l10": ("Ready",),
    "office-revenue": ("Do not publish",),  # 2-anonymity
    "office-census-alone": ("Do not publish",),
}


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "tour"


@pytest.fixture(autouse=True)
def drawn_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports are made in this process, where pictures are not drawn; tests of drawing say what the other one does."""
    monkeypatch.setattr(tour, "drawing_beside", lambda progress: nullcontext(drawing.draw))


def test_the_stops_of_all_methods_are_in_their_order() -> None:
    assert [stop.folder for stop in TOUR] == FOLDERS


@pytest.mark.long
def test_the_tour(undercover: Command, out: Path, tmp_path: Path) -> None:
    done = undercover("demo", "--out", out, "--rows", 1000)
    assert done.code == 0, done.err
    assert os.listdir(tmp_path) == ["tour"]
    assert sorted(os.listdir(out)) == sorted([OVERVIEW, "people.csv", *(planned.folder for planned in TOUR)])
    linked = re.findall(r'href="([^"#:]+)"', (out / OVERVIEW).read_text())
    assert len(linked) == 2 * len(TOUR)
    assert all((out / place).is_file() for place in linked)  # those of withheld releases, too
    page = re.sub(r"\s+", " ", re.sub("<[^>]+>", " ", (out / OVERVIEW).read_text()))
    for planned in TOUR:
        assert verify(out / planned.folder).holds
        assert load_release(public_part(out / planned.folder))[1] == []
        report = (out / planned.folder / "private" / "report.html").read_text()
        assert f"--spec {out / planned.folder}/private/spec.toml" in report  # where it is, not where it was made
        # A line of its own, not torn apart, with the figures of the overview.
        (line,) = (text for text in done.out.splitlines() if text.strip().startswith(f"{planned.title} "))
        figures = re.findall(r"[\d.]+%", line)
        assert len(figures) == 4
        verdict = json.loads((out / planned.folder / "private" / "report.json").read_text())["verdict"]
        assert f"{planned.title} {verdict} {' '.join(figures)}" in page
        assert re.search(rf"{re.escape(planned.title)} +{verdict} +(?:1/)?\w+=", line)
        assert verdict in VERDICTS.get(planned.folder, TITLES)
    assert max(len(line) for line in done.out.splitlines() if str(out) not in line) <= 110
    # The one stage, a line every ten seconds, and at last how long it took.
    assert done.err.splitlines()[0] == "tour …"
    assert re.fullmatch(r"took [\d.a-z ]+", done.err.splitlines()[-1])
    # The table and the page have them in the order of the tour.
    lines = [line.strip() for line in done.out.splitlines()]
    places = [next(i for i, line in enumerate(lines) if line.startswith(f"{planned.title} ")) for planned in TOUR]
    assert places == sorted(places)
    assert undercover("inspect", out / "people.csv").code == 0

    refused = undercover("demo", "--out", out, "--rows", 1000)
    assert (refused.code, "--force" in refused.err) == (2, True)


def test_what_is_no_tour_is_never_replaced(undercover: Command, out: Path) -> None:
    out.mkdir()
    (out / "thesis.tex").write_text("years of work")
    done = undercover("demo", "--out", out, "--rows", 1000, "--force")
    assert (done.code, "`thesis.tex`" in done.err) == (2, True)
    assert (out / "thesis.tex").read_text() == "years of work"


def test_a_tour_cut_short_leaves_nothing(
    undercover: Command, out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[Any] = []
    save = tour.save

    def fail_later(*arguments: Any, **options: Any) -> Any:
        calls.append(arguments)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return save(*arguments, **options)

    monkeypatch.setattr(tour, "save", fail_later)
    assert undercover("demo", "--out", out, "--rows", 1000).code == 130
    assert os.listdir(tmp_path) == []
