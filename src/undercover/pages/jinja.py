"""The templates, and how figures, cells and pictures stand in them.

Every figure is a ``<data value="…">`` element whose value is the full-precision number, so that a page can be checked
against the JSON. Jinja2 is imported when the first page is made.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import undercover
from undercover.characters import visible
from undercover.model import figures
from undercover.model.view import Cell, Figure, Picture, Said
from undercover.pages.chart_process import DrawingError
from undercover.pages.svg import drawings

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

_BARS = {"before": "#d55e00", "risk": "#0072b2", "cost": "#0072b2", "baseline": "#767676"}


def render(template: str, **values: Any) -> str:
    """One of the templates, filled in."""
    return environment().get_template(template).render(**values)


@cache
def environment() -> Environment:
    """Where the templates are, with the filters they use."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    found = Environment(
        loader=PackageLoader("undercover.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_visible,
    )
    formats = (figures.risk, figures.baseline, figures.cost, figures.number, figures.seconds, figures.memory)
    found.filters.update({written.__name__: _figure(written) for written in formats})
    found.filters.update(sampling=_sampling, code=with_code, parameters=figures.parameters, counted=_counted)
    found.filters.update(cell=cell, bar=_bar, drawn=drawn, heading=lambda text: text[:1].upper() + text[1:])
    found.globals.update(_script(), template_digest=template_digest())
    return found


def _visible(content: Any) -> Any:
    """What a page shows of a cell or a name: signs for characters that no page should hold."""
    from markupsafe import Markup

    if not isinstance(content, str):
        return content
    return Markup(visible(content)) if isinstance(content, Markup) else visible(content)


def _sampling(facts: Any) -> Any:
    from undercover.forms.answers.sampling import sampling_words

    return sampling_words(facts)


@cache
def template_digest() -> str:
    """A digest of all that words and looks of pages are made of, by which a page says which version made it."""
    package = Path(undercover.__file__).parent
    sources = [
        path
        for pattern in ("pages/**/*", "forms/**/*", "guarantees/**/*", "model/**/*", "methods/*/about.py")
        for path in package.glob(pattern)
        if path.suffix in (".py", ".j2", ".css", ".js")
    ]
    found = sha256()
    for path in sorted(sources):
        found.update(path.read_bytes())
    return found.hexdigest()[:12]


def script_text() -> str:
    """The script of every page."""
    return files("undercover.pages").joinpath("templates/page.js").read_text("utf-8")


def _script() -> dict[str, Markup]:
    """The script of every page, and the digest by which a page lets run this one and no other."""
    from markupsafe import Markup

    text = script_text()
    digest = b64encode(sha256(text.encode()).digest()).decode()
    return {"script": Markup(text), "script_digest": Markup(f"sha256-{digest}")}


def drawn(picture: Picture, name: str = "") -> Markup:
    """A picture as markup, or a note where it cannot be drawn; ``name`` as of :func:`undercover.pages.svg.drawings`."""
    from markupsafe import Markup

    try:
        return Markup(drawings(picture, name))
    except DrawingError as error:
        note = "This chart could not be drawn: {}. What it shows, in words: {}"
        return Markup('<p class="undrawn">{}</p>').format(note.format(error, visible(picture.sentence)))


def cell(content: Cell) -> Markup:
    """What stands in a field or a sentence; nothing is a dash."""
    from markupsafe import Markup

    if content is None or isinstance(content, str):
        return Markup("–") if content is None else with_code(content)
    if isinstance(content, Said):
        return Markup("").join(cell(piece) for piece in content.pieces())
    if isinstance(content.value, str) and not content.text:
        return with_code(content.value)
    shown = _data(content.value, content.shown)
    return shown + Markup("<small>{} to {}</small>").format(*map(cell, content.ends)) if content.ends else shown


def with_code(text: str) -> Markup:
    """Text with what stands in backticks set as code."""
    from markupsafe import Markup, escape

    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def _figure(written: Callable[[Any], str]) -> Callable[[Any], Markup]:
    """A filter that shows a figure and carries its exact value; a figure there is none of is a dash."""
    from markupsafe import Markup

    return lambda value: Markup("–") if value is None else _data(value, written(value))


def _counted(count: int, one: str, many: str = "") -> Markup:
    """So many of something, with the exact number."""
    return _data(count, figures.number(count)) + " " + figures.counted(count, one, many).partition(" ")[2]


def _data(value: Any, text: str) -> Markup:
    from markupsafe import Markup

    return Markup('<data value="{}">{}</data>').format(value if isinstance(value, str) else repr(value), text)


def _bar(content: Cell) -> Markup:
    """How much a share is of all, as a bar."""
    from markupsafe import Markup

    if not isinstance(content, Figure) or isinstance(content.value, str) or content.sense not in _BARS:
        return Markup("")
    style = "height:3px;border-radius:1px;"
    return Markup(
        '<div style="{0}background:rgba(128,128,128,.25)"><div style="{0}width:{1}%;background:{2}"></div></div>'
    ).format(style, round(100 * min(max(content.value, 0.0), 1.0), 1), _BARS[content.sense])
