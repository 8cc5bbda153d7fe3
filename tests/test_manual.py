"""The manual is built without a warning, leads to every page, and asks nobody else for anything."""

import json
import posixpath
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).parent.parent
START = "docs/guide/index.html"
# What a browser fetches by itself; a link that somebody must follow may lead anywhere.
FETCHED = re.compile(
    r"<(?:script|link|img|iframe|source|object|embed|video|audio|form)\b[^>]*?(?:src|href|data|action)=\"([^\"]+)\""
)
BY_STYLE = re.compile(r"url\(\s*[\"']?([^)\"']+)|@import\s+[\"']([^\"']+)")
FOREIGN = re.compile(r"(?:[a-z]+:)?//")


@pytest.fixture(scope="module")
def manual(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The manual as ``make docs`` builds it, with warnings as errors."""
    folder = tmp_path_factory.mktemp("manual")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-c", "docs", "-d", str(folder / "pages")]
    done = subprocess.run([*command, ".", str(folder / "built")], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    return folder / "built"


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
        for link in re.findall(r'<a\b[^>]*?href="([^"#]+)', (folder / name).read_text("utf-8")):
            if not re.match(r"[a-z]+:", link) and link.endswith(".html"):
                waiting.append(posixpath.normpath(posixpath.join(posixpath.dirname(name), unquote(link))))
    return seen


def test_every_page_is_built_and_reached(manual: Path) -> None:
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "benchmarks" / "README.md"]
    wanted = {path.relative_to(ROOT).with_suffix(".html").as_posix() for path in pages}
    assert wanted - reached(manual, START) == set()


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


def test_what_is_searched_for_is_found(manual: Path) -> None:
    text = (manual / "searchindex.js").read_text("utf-8")
    index = json.loads(text.removeprefix("Search.setIndex(").removesuffix(")"))
    pages = index["terms"]["suppress"]
    assert "docs/guide/guarantees" in {
        index["docnames"][page] for page in ([pages] if isinstance(pages, int) else pages)
    }


def test_pages_are_light_and_dark(manual: Path) -> None:
    page = (manual / START).read_text("utf-8")
    assert "data-theme" in page
    assert "prefers-color-scheme" in (manual / "_static" / "pygments.css").read_text("utf-8")


def test_comments_for_the_tests_and_links_to_folders_are_left_out(manual: Path) -> None:
    readme = (manual / "README.html").read_text("utf-8")
    assert "write_csv" not in readme
    assert 'href="docs/theory/index.html"' in readme
