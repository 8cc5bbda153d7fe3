"""What a result shows, as data: figures with their sense, sentences, tables, pictures, a story.

Every result says this once, by its ``view()``. A terminal, a page and a notebook card only render it, and ``to_dict()``
is what a page elsewhere needs. Figures keep their full precision; how a figure is rounded follows from its sense, so
that nothing looks safer than it is (:mod:`undercover.model.figures`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from functools import cached_property
from itertools import zip_longest
from typing import Any, Literal, TypeAlias

from undercover import plugins
from undercover.model import figures

Sense = Literal["risk", "before", "baseline", "cost", "count", "signed", "seconds", "plain"]
Verdict = Literal["good", "plain", "care", "bad"]

INK = "currentColor"
# Okabe & Ito 2008: told apart by people with any of the usual colour deficiencies, and by their lightness in print.
BEFORE = "var(--before, #d55e00)"
AFTER = "var(--after, #0072b2)"
GUESS = "var(--guess, #767676)"
BROAD = "broad"
"""The name of a layer that is left out where a picture is drawn for a phone."""

_WRITTEN: dict[str, Callable[[Any], str]] = {
    "risk": figures.risk,
    "before": figures.risk,
    "baseline": figures.baseline,
    "cost": figures.cost,
    "count": figures.number,
    "signed": figures.signed,
    "seconds": figures.seconds,
    "plain": lambda value: f"{value:g}",
}
_CERTAIN, _AT_RISK = 1.0 - 1e-9, 0.2
_MANY = 12


@dataclass(frozen=True)
class Figure:
    """A number, exactly, and what it says: a risk, what was risked before, guessing, a cost, a count.

    ``text`` is how it is written where its sense does not say so; ``interval`` is where a sampled figure lies.

    Examples
    --------
    >>> Figure(0.12345, "risk").shown, Figure(0.12345, "baseline").shown, Figure(1234, "count").shown
    ('12.4%', '12.3%', '1,234')
    >>> [end.shown for end in Figure(0.5, "risk", interval=(0.41234, 0.61234)).ends]
    ['41.2%', '61.3%']
    """

    value: float | int | str
    sense: Sense = "plain"
    text: str = ""
    interval: Sequence[float] | None = None

    @property
    def shown(self) -> str:
        """The figure for people."""
        return self.text or (self.value if isinstance(self.value, str) else _WRITTEN[self.sense](self.value))

    @property
    def ends(self) -> tuple[Figure, ...]:
        """The ends of its interval, each rounded outwards; none where it has none."""
        return () if self.interval is None else (Figure(self.interval[0], "baseline"), Figure(self.interval[1], "risk"))


@dataclass(frozen=True)
class Said:
    """A sentence with figures in it, one for every ``{}``.

    ``detail`` says where it is shown, as that of a table does.
    """

    text: str
    values: tuple[Figure | str, ...] = ()
    detail: int = 0

    def pieces(self) -> Iterator[Figure | str]:
        """Text and figures in turn."""
        for text, value in zip_longest(self.text.split("{}"), self.values, fillvalue=""):
            yield from (piece for piece in (text, value) if piece != "")

    def __str__(self) -> str:
        return "".join(piece if isinstance(piece, str) else piece.shown for piece in self.pieces())


Cell: TypeAlias = Figure | Said | str | None


@dataclass(frozen=True)
class FigureTable:
    """Rows of figures; the first cell of a row says what it is about. Without names of columns it is a list of facts.

    ``detail`` is 0 where every reader sees it, 1 where cards leave it out, and 2 where pages fold it and terminals
    leave it out, too. A ``private`` one names rows of the input.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    private: bool = False
    detail: int = 0

    def is_text(self, column: int) -> bool:
        """Whether a column is read from the left: one of words."""
        return self._words[column]

    @cached_property
    def _words(self) -> tuple[bool, ...]:
        """The same of every column, found once: pages ask for every cell."""
        width = max((len(self.columns), *map(len, self.rows)))
        return tuple(any(isinstance(row[at], str | Said) for row in self.rows) for at in range(width))


@dataclass(frozen=True)
class Picture:
    """A Vega-Lite ``spec`` with its data, the ``sentence`` that stands for it, and how to read it.

    Ids inside the drawing begin with its ``name``. Colours are CSS: one drawing serves light, dark and print.
    """

    name: str
    spec: Mapping[str, Any]
    sentence: str
    caption: str = ""

    @classmethod
    def of(cls, name: str, chart: Any, rows: list[dict[str, Any]], sentence: str, caption: str = "") -> Picture:
        """A picture from an Altair chart of these rows."""
        return cls(name, {**chart.to_dict(validate=False), "data": {"values": rows}}, sentence, caption)

    @property
    def values(self) -> list[dict[str, Any]]:
        """The rows that are drawn."""
        rows: list[dict[str, Any]] = self.spec["data"]["values"]
        return rows


@dataclass(frozen=True)
class View:
    """What one result shows.

    ``parts`` are sentences, tables, pictures or views within this one, in order. A picture may be given by the function
    that makes it: nobody draws what nobody looks at. ``verdict`` says whether this is good news and ``said`` says so in
    words; the ``story`` is what an attacker knows and does, ``following`` what to do next in Python.
    """

    kind: str
    title: str
    parts: tuple[Part, ...] = ()
    verdict: Verdict = "plain"
    said: str = ""
    story: str = ""
    following: str = ""
    private: bool = False

    def to_dict(self, *, pictures: bool = True) -> dict[str, Any]:
        """As plain values, with the pictures made, or without any; what has its default is left out."""
        content: dict[str, Any] = _plain(self if pictures else self._without_pictures())
        return content

    def _without_pictures(self) -> View:
        kept = (part for part in self.parts if not (isinstance(part, Picture) or callable(part)))
        return replace(self, parts=tuple(part._without_pictures() if isinstance(part, View) else part for part in kept))

    @classmethod
    def of(cls, mapping: Mapping[str, Any]) -> View:
        """A view from its plain values."""
        found = _read(mapping)
        assert isinstance(found, cls)
        return found

    def without_private(self) -> View:
        """The same without the tables that name rows."""
        kept = (part for part in self.parts if not (isinstance(part, FigureTable) and part.private))
        return replace(self, parts=tuple(kept))


Part: TypeAlias = str | Said | FigureTable | Picture | View | Callable[[], Picture]


class Shown:
    """Whatever a notebook shows as a card; pages are loaded when the first one is."""

    def _repr_html_(self) -> str:
        card: str = plugins.find("undercover.pages.cards:card_of")(self)
        return card


class Viewable(Shown):
    """Whatever shows itself by a view; of an attack, ``who`` says in words whose it is."""

    who: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        raise NotImplementedError

    def exposures(self) -> Sequence[Any]:
        """What an attack reaches on each person, for a policy to judge: :class:`~undercover.model.verdict.Exposure`."""
        return ()

    def open_questions(self) -> Sequence[str]:
        """What an attack could not work out, a sentence each: its holder has to decide."""
        return ()

    def view(self) -> View:
        """What it shows; of an attack that has nothing else, its story."""
        found = self.to_dict()
        return View(str(found["attack"]), str(found["attack"]), story=str(found.get("story", "")), private=True)


def say(text: str, *values: float | str, detail: int = 0) -> Said:
    """A sentence whose ``{}`` are named by the sense of the figure; texts stand as they are.

    >>> str(say("by {risk} at worst, of {count} people with {plain}", 0.12345, 1000, "gout"))
    'by 12.4% at worst, of 1,000 people with gout'
    """
    senses: list[Any] = re.findall(r"{(\w+)}", text)
    figures_ = (
        value if isinstance(value, str) else Figure(value, sense) for value, sense in zip(values, senses, strict=True)
    )
    return Said(re.sub(r"{\w+}", "{}", text), tuple(figures_), detail)


def table(
    columns: Sequence[str], senses: str, rows: Iterable[Sequence[Any]], title: str = "", **more: Any
) -> FigureTable:
    """A table of plain values: ``senses`` has a word for every column; whole numbers are counts.

    >>> rows = [("found", 0.12345, 0.12345), ("people", 3, None)]
    >>> shown = table(("", "release", "guessing"), "plain risk baseline", rows)
    >>> [cell.shown for cell in shown.rows[0][1:]], shown.rows[1][1].sense
    (['12.4%', '12.3%'], 'count')
    """
    made = tuple(tuple(map(_cell, row, senses.split())) for row in rows)
    return FigureTable(title, tuple(columns), made, **more)


def facts(*lines: tuple[str, float | Said | str], title: str = "", detail: int = 0) -> FigureTable:
    """What there is to say one below the other: what it is, and the number or sentence."""
    return FigureTable(title, (), tuple((label, _cell(value, "count")) for label, value in lines), detail=detail)


def listed(names: Sequence[str]) -> str:
    """Names one after the other; of very many the first only."""
    rest = len(names) - _MANY
    return ", ".join(names[:_MANY]) + (f" and {rest} more" if rest > 0 else "")


def room(labels: Sequence[str]) -> float:
    """Pixels to keep for labels beside an axis of a picture, in a wide font."""
    return min(220.0, 7.5 * max((len(label) for label in labels), default=0))


def certainty(highest: float) -> tuple[Verdict, str]:
    """The verdict over the highest probability that was reached: bad only where somebody is certain."""
    if highest > _CERTAIN:
        return "bad", "somebody is certain"
    return ("good" if highest <= _AT_RISK + 1e-12 else "plain"), "nobody is certain"


def _cell(value: Any, sense: Any) -> Cell:
    if isinstance(value, int | float):
        return Figure(value, "count" if isinstance(value, int) else sense)
    cell: Cell = value
    return cell


def _plain(part: Any) -> Any:
    if isinstance(part, tuple | list):
        return [_plain(entry) for entry in part]
    if isinstance(part, Figure | Said | FigureTable | Picture | View):
        return {
            field.name: _plain(getattr(part, field.name))
            for field in fields(part)
            if field.default is MISSING or getattr(part, field.name) != field.default
        }
    return _plain(part()) if callable(part) else part


def _read(content: Any) -> Any:
    if isinstance(content, list):
        return tuple(_read(entry) for entry in content)
    if not isinstance(content, Mapping):
        return content
    if "spec" in content:
        return Picture(**content)
    kind: type[Any] = next(kind for key, kind in _KINDS.items() if key in content)
    return kind(**{name: _read(value) for name, value in content.items()})


_KINDS: dict[str, type[Any]] = {"kind": View, "columns": FigureTable, "value": Figure, "text": Said}
