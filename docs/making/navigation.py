"""Pages as Sphinx needs them, from pages as they are: plain Markdown that reads well on a code host, too.

An ``index.md`` is its own table of contents: under each heading, the lists' links in their order. A page that no list
leads to makes the build fail. Comments for the tests are left out, and a link to a folder leads to its index. Folders
of many short pages (``listed_only``) have these on their index alone, not beside every page.
"""

import posixpath
import re
from functools import cache
from pathlib import Path
from typing import Any

from sphinx.search.en import SearchEnglish

COMMENT = re.compile(r"^<!-- .* -->\n", re.MULTILINE)
LINK = re.compile(r"\[([^\]\[]+)\]\(([^)\s]+)\)")
FENCED = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)


def contents(text: str, folder: str) -> str:
    """Hidden tables of contents, one for every heading with a list of pages.

    >>> page = ["# All", "## How?", "- [One](one.md), in [two](../two.md#b)"]
    >>> print(contents(chr(10).join(page), "docs/guide"))
    <BLANKLINE>
    ```{toctree}
    :hidden:
    :caption: How?
    One </docs/guide/one>
    two </docs/two>
    ```
    <BLANKLINE>
    """
    made, seen = "", set[str]()
    for section in re.split(r"^(?=## )", text, flags=re.MULTILINE):
        entries = []
        for title, target in LINK.findall("\n".join(re.findall(r"^- .*$", section, re.MULTILINE))):
            path, page = posixpath.normpath(posixpath.join(folder, target.partition("#")[0])), target.partition("#")[0]
            if page.endswith(".md") and path not in seen:
                seen.add(path)
                entries.append(f"{title.replace('`', '')} </{path.removesuffix('.md')}>")
        if entries:
            heading = re.match(r"## (.*)", section)
            caption = [f":caption: {heading[1]}"] if heading else []
            made += "\n".join(["", "```{toctree}", ":hidden:", *caption, *entries, "```", ""])
    return made


def _leading_somewhere(text: str, folder: Path) -> str:
    """A text in which links to folders lead to their index, and are no links where there is none."""

    def led(link: re.Match[str]) -> str:
        target = folder / link[2].partition("#")[0]
        if re.match(r"[a-z]+:|#", link[2]) or not target.is_dir():
            return link[0]
        index = next((name for name in ("index.md", "README.md") if (target / name).exists()), None)
        return f"[{link[1]}]({posixpath.join(link[2], index)})" if index else link[1]

    pieces = FENCED.split(text)
    return "".join(piece if number % 2 else LINK.sub(led, piece) for number, piece in enumerate(pieces))


def read(app: Any, name: str, source: list[str]) -> None:
    """Prepare one page, before it is parsed."""
    folder, base = posixpath.split(name)
    text = _leading_somewhere(COMMENT.sub("", source[0]), Path(app.srcdir) / folder)
    if folder in app.config.listed_only:
        source[0] = text if base == "index" else f"---\norphan: true\n---\n{text}"
    else:
        source[0] = text + (contents(text, folder) if base == "index" else "")


def remember(app: Any, name: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Beside pages that are not in it the navigation is the same for a whole folder: it is drawn once."""
    folder, base = posixpath.split(name)
    if folder in app.config.listed_only and base != "index":
        draw, drawn = context["toctree"], app.drawn
        context["toctree"] = lambda **how: drawn.get(folder) or drawn.setdefault(folder, draw(**how))


class Words(SearchEnglish):
    """English words in the search index; each is reduced to its stem once."""

    stem = cache(SearchEnglish.stem)


def begin(app: Any, failure: Exception | None) -> None:
    """The door of the manual: whoever opens the folder is led to its first page."""
    if failure is None:
        to = f"{app.config.root_doc}.html"
        head = f'<title>undercover</title><meta http-equiv="refresh" content="0; url={to}">'
        page = f'<!doctype html><html lang="en">{head}<a href="{to}">The manual</a></html>'
        (Path(app.outdir) / "index.html").write_text(page, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """What Sphinx calls."""
    app.add_config_value("listed_only", [], "env", list)
    app.drawn = {}
    app.add_search_language(Words)
    app.connect("source-read", read)
    app.connect("html-page-context", remember, 100)
    app.connect("build-finished", begin)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
