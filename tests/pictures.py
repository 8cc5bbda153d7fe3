"""Pictures of pages: an empty frame for most tests, since to draw those of one report takes more than a second."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch
from xml.sax.saxutils import escape, quoteattr

from undercover.model.view import Picture
from undercover.pages import chart_process, jinja, svg
from undercover.pages.svg import drawings


def frame(picture: Picture, name: str = "") -> str:
    """A picture with its sentence and nothing in it.

    >>> frame(Picture("points", {}, "One point & no more"))
    '<svg role="img" aria-label="One point &amp; no more" class="chart"><title>One point &amp; no more</title></svg>'
    """
    sentence = picture.sentence
    return f'<svg role="img" aria-label={quoteattr(sentence)} class="chart"><title>{escape(sentence)}</title></svg>'


@contextmanager
def framed() -> Iterator[None]:
    """Pages have frames for pictures."""
    with patch.object(jinja, "drawings", frame), patch.object(chart_process._process, "start"):
        yield


_draw = svg.draw_chart
_drawn: dict[str, str] = {}


def drawn_once(spec: dict[str, Any]) -> str:
    """Draw what was not drawn before: pages of one run have the same pictures."""
    key = json.dumps(spec)
    if key not in _drawn:
        _drawn[key] = _draw(spec)
    return _drawn[key]


@contextmanager
def drawing() -> Iterator[None]:
    """Pages have their pictures drawn after all."""
    with patch.object(jinja, "drawings", drawings), patch.object(svg, "draw_chart", drawn_once):
        yield
