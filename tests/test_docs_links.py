"""Every relative link and anchor in ``README.md``, ``docs/`` and their neighbours points at something that exists."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from undercover import plugins

ROOT = Path(__file__).parent.parent
PAGES = {
    path.relative_to(ROOT).as_posix(): path
    for path in (*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/**/*.md")), ROOT / "benchmarks" / "README.md")
}
LINK = re.compile(r"\[[^\]\[]*\]\(([^)\s]+)\)")


def prose(text: str) -> str:
    """A page without its code, in which brackets mean something else."""
    return re.sub(r"`[^`\n]+`", "`code`", re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE))


def anchors(text: str) -> set[str]:
    """The names of a page's headings, as they are made from their text."""
    bare = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    found: list[str] = []
    for title in re.findall(r"^#+ (.+)$", bare, flags=re.MULTILINE):
        plain = re.sub(r"[^\w\- ]", "", LINK.sub(lambda link: link[0][1 : link[0].index("]")], title).lower())
        name = plain.strip().replace(" ", "-")
        found.append(f"{name}-{found.count(name)}" if name in found else name)
    return set(found)


def broken(page: Path) -> list[str]:
    """Links of a page that lead nowhere."""
    wrong = []
    for link in LINK.findall(prose(page.read_text("utf-8"))):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = unquote(link).partition("#")
        target = page.parent / path if path else page
        if not target.exists() or (anchor and anchor not in anchors(target.read_text("utf-8"))):
            wrong.append(link)
    return wrong


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_somewhere(name: str) -> None:
    assert broken(PAGES[name]) == []


def test_the_index_lists_every_page() -> None:
    guide = ROOT / "docs" / "guide"
    linked = set(LINK.findall((guide / "index.md").read_text("utf-8")))
    assert {path.name for path in guide.glob("*.md")} - {"index.md"} <= linked


@pytest.mark.parametrize("method", plugins.BUILT_IN["methods"])
def test_the_page_of_a_method_leads_to_its_theory_and_notebook(method: str) -> None:
    name = method.replace("-", "_")
    linked = LINK.findall((ROOT / "docs" / "guide" / f"{name}.md").read_text("utf-8"))
    assert f"../theory/{name}.md" in linked
    assert f"../../examples/notebooks/{name}.ipynb" in linked


def unknown_code(text: str) -> list[str]:
    """Files and folders of the program that a page names and that are not there: `steps/gone.py`, `steps/gone/`."""
    named = re.findall(r"`((?:[a-z_]+/)+(?:[a-z_]+\.py)?)`", text)
    return [place for place in named if not any((ROOT / room / place).exists() for room in ("src/undercover", "."))]


@pytest.mark.parametrize("name", [name for name in PAGES if name.startswith("docs/theory/")])
def test_code_that_theory_names_exists(name: str) -> None:
    assert unknown_code(PAGES[name].read_text("utf-8")) == []


def test_code_that_is_gone_is_caught() -> None:
    text = "`steps/cutting/`, `steps/recoding.py`, `tests/test_docs_links.py`, `steps/gone/`, `methods/mondrian.py`"
    assert unknown_code(text) == ["steps/gone/", "methods/mondrian.py"]


def test_a_broken_link_is_caught(tmp_path: Path) -> None:
    (tmp_path / "there.md").write_text("# The one & `only`\n## Twice\n## Twice\n```text\n# no heading\n```\n")
    page = tmp_path / "page.md"
    good = ["there.md", "there.md#the-one--only", "there.md#twice-1", "#here", ".", "https://example.org/nowhere"]
    bad = ["gone.md", "there.md#two", "there.md#twice-2", "there.md#no-heading", "#not-here"]
    page.write_text("# Here\n" + " ".join(f"[link]({link})" for link in good) + " `[1](gone)`\n```\n[2](gone)\n```\n")
    assert broken(page) == []
    page.write_text("# Here\n" + " ".join(f"[link]({link})" for link in bad))
    assert broken(page) == bad
