"""A view as a section of a page and as a notebook card.

A card shows what is said in figures: no story, no picture, no row of the input. Its edge is the verdict; colours are
those of the pages (Okabe & Ito 2008) and read on light and on dark, text takes the notebook's own colour.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from undercover.model.view import FigureTable, Said, View
from undercover.pages.jinja import environment, render

if TYPE_CHECKING:
    from markupsafe import Markup

EDGES = {"good": "#009e73", "plain": "#0072b2", "care": "#e69f00", "bad": "#d55e00"}
_MOST_ROWS = 12


def section(view: View, *, level: int = 2, name: str = "view") -> Markup:
    """A view as part of a page, under a heading of this level; ``name`` begins the ids of its pictures."""
    from markupsafe import Markup

    macros: Any = environment().get_template("view.html.j2").module
    return Markup(macros.section(view, level, name))


def card(view: View) -> str:
    """A view as a small card."""
    tables = (part for part in view.without_private().parts if isinstance(part, FigureTable | Said))
    parts = [part for part in tables if not part.detail]
    return render("card.html.j2", view=view, parts=parts, edge=EDGES[view.verdict], most=_MOST_ROWS)
