"""What notebook cards are made of: an edge whose colour is the verdict, lines, and a small table of figures with bars.

Colours are those of the pages (Okabe & Ito 2008) and read on light and on dark; text takes the notebook's own colour.
Every figure of a table is a ``<data value="…">`` with the exact number, rounded to the safe side for the eye.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from undercover.model import figures
from undercover.pages.render import render

if TYPE_CHECKING:
    from markupsafe import Markup

PLAIN, GOOD, BAD = "#0072b2", "#009e73", "#d55e00"
BEFORE, AFTER, GUESS = "#d55e00", "#0072b2", "#767676"
MANY = 12


@dataclass(frozen=True)
class Shown:
    """One figure: its exact value, how it is written, and how long its bar is, where it is a share.

    Examples
    --------
    >>> Shown(0.12345, "12.4%", 0.12345).percent
    12.3
    >>> str(Shown(8, "8").markup())
    '<data value="8">8</data>'
    """

    value: float
    text: str
    share: float | None = None

    @property
    def percent(self) -> float:
        """The length of the bar in percent of a cell."""
        return round(100 * min(max(self.share or 0.0, 0.0), 1.0), 1)

    def markup(self) -> Markup:
        """The figure with its exact value, for a line of text."""
        from markupsafe import Markup

        return Markup('<data value="{}">{}</data>').format(repr(self.value), self.text)


Cells = tuple[Shown | None, ...]


@dataclass(frozen=True)
class Figures:
    """A table of figures: what each column is (a title and the colour of its bars), and labelled rows.

    >>> Figures((("release", AFTER),), (("finds the row", (risk(0.1),)),)).columns[0][0]
    'release'
    """

    columns: tuple[tuple[str, str], ...]
    rows: tuple[tuple[str, Cells], ...]


def risk(share: float) -> Shown:
    """A probability, rounded up.

    >>> risk(0.12345).text
    '12.4%'
    """
    return Shown(share, figures.risk(share), share)


def baseline(share: float) -> Shown:
    """What is reached without the release, rounded down.

    >>> baseline(0.12345).text
    '12.3%'
    """
    return Shown(share, figures.baseline(share), share)


def count(value: float) -> Shown:
    """A number without a bar.

    >>> count(1234).text
    '1,234'
    """
    return Shown(value, figures.number(value))


def cost(value: float) -> Shown:
    """A loss, rounded up.

    >>> cost(0.010001).text
    '0.0101'
    """
    return Shown(value, figures.cost(value))


def sentence(template: str, *parts: Any) -> Markup:
    """A line with figures in it; everything else is escaped.

    >>> str(sentence("{} of {}", count(3), "<b>"))
    '<data value="3">3</data> of &lt;b&gt;'
    """
    from markupsafe import Markup

    return Markup(template).format(*(part.markup() if isinstance(part, Shown) else part for part in parts))


def listed(names: Sequence[str]) -> str:
    """Names one after the other; of very many the first only.

    >>> listed(["age", "sex"])
    'age, sex'
    """
    rest = len(names) - MANY
    return ", ".join(names[:MANY]) + (f" and {rest} more" if rest > 0 else "")


def card(
    title: str,
    lines: Sequence[tuple[str, Any]],
    *,
    table: Figures | None = None,
    edge: str = PLAIN,
    following: str = "",
    private: bool = False,
) -> str:
    """The card itself.

    >>> card("Schema", [("sensitive", "income")]).startswith("<div")
    True
    """
    return render(
        "card.html.j2", title=title, lines=lines, table=table, edge=edge, following=following, private=private
    )


Card = Callable[[Any], str]
