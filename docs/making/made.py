"""What is made while the manual is built, in the place of comments ``<!-- made: NAME -->``.

On a code host, and where the build is told ``-D made=0``, nothing stands there: pages must read well without it.
"""

import re
from pathlib import Path
from typing import Any

COMMENT = re.compile(r"^<!-- made: ([\w-]+) -->$", re.MULTILINE)
FOLDER = "made"


def make(app: Any) -> None:
    """Make everything before pages are read; what each name stands for is kept for :func:`fill`."""
    app.made_parts = {}
    if not app.config.made:
        return
    from making import gallery, peers, photographs, tradeoffs  # which load everything there is

    folder = Path(app.outdir) / FOLDER
    charts = gallery.make(folder)
    photographs.make(folder)
    app.made_parts = {
        "frontier": figure(tradeoffs.frontier()),
        "peers": figure(peers.picture()),
        "charts": "".join(figure(chart) for chart in charts),
        **{name: framed(name, title) for name, title in gallery.PAGES.items()},
        **{name: shown(name, said) for name, said in photographs.PICTURES.items() if (folder / f"{name}.png").exists()},
    }


def figure(svg: str) -> str:
    """A chart that stands in the page itself; Markdown ends a piece of HTML at an empty line."""
    return '<figure class="made">' + re.sub(r"\s*\n\s*", " ", svg) + "</figure>"


def framed(name: str, title: str) -> str:
    """A whole page in a frame, and the way to it."""
    place = f"../../{FOLDER}/{name}.html"
    way = f'<p><a href="{place}">{title}, on a page of its own</a></p>'
    return f'<div class="made">{way}<iframe src="{place}" title="{title}" loading="lazy"></iframe></div>'


def shown(name: str, said: str) -> str:
    """A photograph with a sentence that stands in for it."""
    return f'<img class="made" src="../../{FOLDER}/{name}.png" alt="{said}" loading="lazy">'


def fill(text: str, parts: dict[str, str]) -> str:
    """A page with what was made in its places.

    >>> fill("a\\n<!-- made: chart -->\\nb", {"chart": "<svg/>"}), fill("<!-- made: none -->", {})
    ('a\\n<svg/>\\nb', '')
    """
    return COMMENT.sub(lambda found: parts.get(found[1], ""), text)


def setup(app: Any) -> dict[str, bool]:
    """What Sphinx calls."""
    app.add_config_value("made", True, "env", bool)
    app.connect("builder-inited", make)
    app.connect("source-read", lambda app, name, source: source.insert(0, fill(source.pop(), app.made_parts)), 100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
