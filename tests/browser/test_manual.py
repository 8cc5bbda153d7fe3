"""The manual is built without a warning, leads to every page, asks nobody else for anything, and fits a phone."""

import json
import posixpath
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest
from docutils.nodes import math
from making import gallery, photographs, tradeoffs
from making.formulas import mathml
from making.made import COMMENT
from opening import DESK, PHONE
from playwright.sync_api import Browser, Page

from undercover.web.texts import catalogue

pytestmark = pytest.mark.long
ROOT = Path(__file__).parents[2]
START = "docs/guide/index.html"
# What a browser fetches by itself; a link that somebody must follow may lead anywhere.
FETCHED = re.compile(
    r"<(?:script|link|img|iframe|source|object|embed|video|audio|form)\b[^>]*?(?:src|href|data|action)=\"([^\"]+)\""
)
BY_STYLE = re.compile(r"url\(\s*[\"']?([^)\"']+)|@import\s+[\"']([^\"']+)")
FOREIGN = re.compile(r"(?:[a-z]+:)?//")


def built(folder: Path, *options: str) -> Path:
    """The manual as ``make docs`` builds it, with warnings as errors, without what is made for the gallery."""
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-D", "made=0", "-c", "docs", *options]
    places = ["-d", str(folder / "pages"), ".", str(folder / "built")]
    done = subprocess.run([*command, *places], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode or done.stdout or done.stderr:
        pytest.fail(f"The manual is not built without a word:\n{done.stdout}{done.stderr}", pytrace=False)
    return folder / "built"


@pytest.fixture(scope="module")
def manual(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All pages; of the reference the names of objects, whose docstrings are looked at in ``test_reference.py``."""
    return built(tmp_path_factory.mktemp("manual"), "-D", "whole_reference=0")


@pytest.mark.soak
def test_the_whole_manual_is_built(tmp_path: Path, browser: Browser) -> None:
    whole = built(tmp_path, "-D", "made=1")
    assert 'id="undercover.publish"' in (whole / "docs" / "reference" / "python" / "verbs.html").read_text("utf-8")
    officer = (whole / "docs" / "tutorials" / "privacy_officer.html").read_text("utf-8")
    assert all(f'src="../../made/{name}.png"' in officer for name in photographs.PICTURES)
    assert 'class="key"' in (whole / "docs" / "guide" / "choosing.html").read_text("utf-8")


def fetched(text: str) -> list[str]:
    """Addresses of other hosts that a page or a style sheet fetches."""
    found = [*FETCHED.findall(text), *("".join(each) for each in BY_STYLE.findall(text))]
    return [address for address in found if FOREIGN.match(address)]


def reached(folder: Path, start: str) -> set[str]:
    """Pages that links lead to, one after the other."""
    seen, waiting = set[str](), [start]
    while waiting:
        name = waiting.pop()
        if name in seen or not (folder / name).is_file():
            continue
        seen.add(name)
        links = re.findall(r'<a\b[^>]*?href="(?![a-z]+:)([^"#]+\.html)', (folder / name).read_text("utf-8"))
        waiting += [posixpath.normpath(posixpath.join(posixpath.dirname(name), unquote(link))) for link in links]
    return seen


def test_every_page_is_built_and_reached(manual: Path) -> None:
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "benchmarks" / "README.md"]
    wanted = {path.relative_to(ROOT).with_suffix(".html").as_posix() for path in pages}
    assert wanted - reached(manual, START) == set()


def test_a_page_that_nobody_leads_to_is_missed(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "a.html").write_text(
        '<a class="b" href="in/b.html#part">b</a> <a href="https://c.example/c.html">c</a>'
    )
    (tmp_path / "in" / "b.html").write_text('<a href="../a.html">a</a> <img src="c.html">')
    (tmp_path / "c.html").write_text("")
    assert reached(tmp_path, "a.html") == {"a.html", "in/b.html"}


def test_nothing_is_fetched_from_elsewhere(manual: Path) -> None:
    for path in manual.rglob("*"):
        if path.suffix in {".html", ".css", ".svg"}:
            assert fetched(path.read_text("utf-8")) == [], path.name


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ('<link rel="stylesheet" href="https://fonts.example.org/css">', "https://fonts.example.org/css"),
        ('<script async src="//cdn.example.org/a.js"></script>', "//cdn.example.org/a.js"),
        ("@font-face { src: url('https://fonts.example.org/a.woff2') }", "https://fonts.example.org/a.woff2"),
        ('@import "https://example.org/a.css";', "https://example.org/a.css"),
    ],
)
def test_a_planted_request_is_caught(text: str, address: str) -> None:
    assert fetched(text) == [address]
    assert fetched('<a href="https://example.org">link</a> <img src="a.svg">') == []


@pytest.fixture
def window(manual: Path, browser: Browser) -> Iterator[tuple[Page, list[str]]]:
    """A window, and every complaint and every request that does not go to the folder."""
    page, complaints = browser.new_page(), []
    page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
    own = (manual.as_uri(), "data:")
    page.on("request", lambda asked: complaints.append(asked.url) if not asked.url.startswith(own) else None)
    yield page, complaints
    page.close()


@pytest.mark.parametrize("name", ["README", "docs/guide/choosing", "docs/theory/cover_tables"])
def test_a_page_fits_and_asks_nobody(name: str, manual: Path, window: tuple[Page, list[str]]) -> None:
    page, complaints = window
    page.goto((manual / f"{name}.html").as_uri())
    for size in (DESK, PHONE):
        page.set_viewport_size(size)  # type: ignore[arg-type]
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    grounds = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        grounds.append(page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)"))
    assert min(grounds[0]) > 200
    assert max(grounds[1]) < 60
    assert complaints == []


def test_a_search_finds_its_page(manual: Path, window: tuple[Page, list[str]]) -> None:
    page, complaints = window
    page.goto((manual / "search.html").as_uri() + "?q=glossary")
    page.get_by_role("link", name="Glossary").nth(1).wait_for(timeout=60_000)
    assert page.locator("ul.search li a").first.inner_text() == "Glossary"
    assert complaints == []


def test_comments_for_the_tests_and_links_to_folders_are_left_out(manual: Path) -> None:
    readme = (manual / "README.html").read_text("utf-8")
    assert "write_csv" not in readme
    assert 'href="docs/theory/index.html"' in readme


def test_what_the_gallery_shows_is_made(tmp_path: Path) -> None:
    charts = gallery.make(tmp_path, rows=300, methods=("anatomy",))
    assert {path.stem for path in tmp_path.iterdir()} == set(gallery.PAGES)
    assert all(fetched(path.read_text("utf-8")) == [] for path in tmp_path.iterdir())
    assert charts
    assert all(chart.startswith("<svg") for chart in charts)


def test_every_place_for_something_made_has_something() -> None:
    named = {name for path in ROOT.glob("docs/**/*.md") for name in COMMENT.findall(path.read_text("utf-8"))}
    assert named == {"frontier", "charts", "peers", *gallery.PAGES, *photographs.PICTURES}


def test_the_figures_for_choosing_are_the_measured_ones() -> None:
    text = (ROOT / "docs" / "guide" / "choosing.md").read_text("utf-8")
    measured = json.loads(tradeoffs.STORED.read_text("utf-8"))
    assert "\n".join(tradeoffs.table(measured)) in text
    assert f"made {len(measured['releases'])} releases" in text
    measured["releases"][0]["figures"][0] *= 1.01
    assert "\n".join(tradeoffs.table(measured)) not in text


def test_the_officer_is_told_what_buttons_are_called() -> None:
    said = re.findall(r"\*\*(.+?)\*\*", (ROOT / "docs" / "tutorials" / "privacy_officer.md").read_text("utf-8"))
    assert len(said) > 30
    assert set(said) - set(catalogue("en").values()) <= {"in bold"}


def test_a_formula_that_cannot_be_read_says_where(caplog: pytest.LogCaptureFixture) -> None:
    node = math("", r"\nonsense{x}")
    node.source, node.line = "docs/theory/somewhere.md", 7
    with caplog.at_level("WARNING"):
        assert mathml(node) == ""
    assert "nonsense" in caplog.text
    assert mathml(math("", "x^2")).startswith("<math")
