"""Pictures of pages: an empty frame for most tests, since to draw those of one report takes more than a second."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from xml.sax.saxutils import escape, quoteattr

import pytest

from undercover.model.view import Picture
from undercover.pages import jinja
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
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jinja, "drawings", frame)
        yield


@contextmanager
def drawing() -> Iterator[None]:
    """Pages have their pictures drawn after all."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jinja, "drawings", drawings)
        yield
