"""A picture as SVG that can stand inside a page.

Colours are CSS: text and axes take ``currentColor``, series a custom property with a fallback, so that one rendering
serves light, dark and print. Nothing is fetched; fonts are whatever sans-serif the reader has. What a bar, a point or a
field stands for is its ``data-tip``, which the script of the page shows.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, count
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from undercover.characters import has_signs, visible
from undercover.model.view import AFTER, BROAD, INK, Picture
from undercover.pages.chart_process import draw_chart

_CONFIG: dict[str, Any] = {
    "background": "transparent",
    "aria": True,
    "font": "sans-serif",
    "padding": {"left": 4, "right": 12, "top": 4, "bottom": 4},
    "view": {"stroke": None},
    "axis": {
        "labelColor": INK,
        "titleColor": INK,
        "domainColor": INK,
        "tickColor": INK,
        "gridColor": INK,
        "gridOpacity": 0.15,
        "domainOpacity": 0.5,
        "tickOpacity": 0.5,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titlePadding": 8,
        "labelLimit": 220,
    },
    "legend": {"labelColor": INK, "titleColor": INK, "labelFontSize": 12, "orient": "top", "title": None},
    "header": {"labelColor": INK, "titleColor": INK, "labelFontSize": 12, "labelFontWeight": "bold"},
    "title": {"color": INK, "fontSize": 13, "anchor": "start", "frame": "group", "fontWeight": "bold"},
    "bar": {"color": AFTER},
}
_TOLD = re.compile(
    r'aria-label="([^"]*)" role="graphics-symbol" aria-roledescription="(?:bar|point|circle|square|rect mark)"'
)
_NAMELESS = re.compile(r"(?:(?<=^)|(?<=; ))(?:x|y|bin|shown|value|series|line|which|release|measure): ")

_PHONE = 358
"""Pixels between the margins of a page on a screen of 390, for which every picture is drawn a second time."""
_PHONE_CONFIG: dict[str, Any] = {
    **_CONFIG,
    "padding": {"left": 12, "right": 6, "top": 4, "bottom": 4},
    "axis": {**_CONFIG["axis"], "labelLimit": 150},
    "axisX": {"labelOverlap": "greedy", "labelSeparation": 6},
    "legend": {**_CONFIG["legend"], "columns": 1, "labelLimit": 300},
    "title": {**_CONFIG["title"], "frame": "bounds"},
}
_LEAST_WIDTH = 140
_BESIDE, _MOST_BESIDE, _MORE = 60, 190, 12
"""Pixels that labels need beside a panel: where nobody knows, at most on a phone, and there more than when broad."""
_LINE, _LETTER, _HEIGHT = 32, 7, 15
"""Letters of a title on a phone; pixels of a letter, and between labels that are aslant."""


_LONGEST = 300
"""Letters of a text in a picture; labels show fewer."""
_NO_WORDS = {
    word: f"{word}\u00a0"
    for word in (
        *("if", "constructor", "toString", "toLocaleString", "valueOf", "hasOwnProperty", "isPrototypeOf"),
        *("propertyIsEnumerable", "__proto__", "__defineGetter__", "__defineSetter__", "__lookupGetter__"),
        "__lookupSetter__",
    )
}
"""Texts that the library takes for words of its own, or of JavaScript, where something is sorted by them."""


def drawings(picture: Picture, name: str = "") -> str:
    """A picture twice, of which the style sheet shows one: :func:`svg` and :func:`phone_svg`."""
    broad = svg(picture, name)
    return broad + phone_svg(picture, name, beside=_beside(picture.spec, broad))


def svg(picture: Picture, name: str = "") -> str:
    """A picture as an SVG element; ``name`` begins its ids where that of the picture is not the only one on a page.

    >>> spec = {"data": {"values": [{"x": 1}]}, "mark": "point", "encoding": {"x": {"field": "x"}}}
    >>> svg(Picture("points", spec, "One point & no more"))[:72]
    '<svg role="img" aria-label="One point &amp; no more" class="chart broad"'
    """
    drawn = draw_chart({**shortened(picture.spec), "config": _CONFIG})
    return _element(drawn, picture, name or picture.name, "broad")


def phone_svg(picture: Picture, name: str = "", *, beside: int = _BESIDE) -> str:
    """The same for the width of a phone, letters unscaled: panels below each other, as wide as labels leave room.

    ``beside`` is what labels are thought to need; where they need more, it is drawn again, unless no view is as wide.
    """
    width, spec = max(_LEAST_WIDTH, _PHONE - beside), shortened(picture.spec)
    drawn, before = "", None
    while True:
        narrowed = _narrowed(spec, width)
        if narrowed != before:
            drawn, before = draw_chart({**narrowed, "config": _PHONE_CONFIG}), narrowed
        size = re.search(r'viewBox="0 0 ([\d.]+)', drawn)
        beyond = math.ceil(float(size[1])) - _PHONE if size else 0
        if beyond <= 0 or width <= _LEAST_WIDTH:
            return _element(drawn, picture, f"{name or picture.name}-narrow", "narrow")
        width = max(_LEAST_WIDTH, width - beyond)


def shortened(part: Any, known: dict[str, str] | None = None) -> Any:
    """A spec whose texts can be drawn: no control characters, and no whole letters, whose measuring takes minutes.

    Different texts stay different.

    >>> [text[-5:] for text in shortened(["ab" * 5000, "ab" * 5001, "short"])]
    ['abab…', 'ab… 2', 'short']
    >>> shortened(["a\x0bb", "a\u240bb", "a\ufffeb", "a\uffffb"])
    ['a␋b', 'a␋b 2', 'a�b', 'a�b 2']
    """
    known = {} if known is None else known
    if isinstance(part, Mapping):
        return {
            name: _title(shortened(value, known)) if name == "title" else shortened(value, known)
            for name, value in part.items()
        }
    if isinstance(part, list | tuple):
        return [shortened(value, known) for value in part]
    if not isinstance(part, str):
        return part
    shown = _NO_WORDS.get(part) or visible(part)
    shown = shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 8]}…"
    if shown == part and not has_signs(part) and part not in _NO_WORDS.values():
        return part
    if part not in known:
        used = set(known.values())
        known[part] = next(text for n in count(1) if (text := f"{shown}{f' {n}' if n > 1 else ''}") not in used)
    return known[part]


def _title(text: Any) -> Any:
    """A title that can stand in an expression, where the library quotes it without a look at what it holds."""
    if isinstance(text, list):
        return [_title(line) for line in text]
    return re.sub(r"[\n\u2028\u2029]", " ", text).replace("\\", "⧵") if isinstance(text, str) else text


def _beside(spec: Mapping[str, Any], broad: str) -> int:
    """What the labels of a panel need in a broad drawing; of several panels side by side, what each does on average."""
    size, widths = re.search(r'viewBox="0 0 ([\d.]+)', broad), list(_widths(spec))
    across = next((len(spec[key]) for key in ("hconcat", "concat") if key in spec), 1)
    across = min(across, int(spec.get("columns", across)))
    if not size or not widths:
        return _BESIDE
    gaps = float(spec.get("spacing", 20)) * (across - 1)
    each = math.ceil((float(size[1]) - gaps) / across - max(widths)) + _MORE
    return min(max(each, _BESIDE // 2), _MOST_BESIDE)


def _widths(part: Any) -> Iterator[float]:
    """The widths of all views of a specification."""
    if isinstance(part, list):
        yield from chain.from_iterable(map(_widths, part))
    for key, value in part.items() if isinstance(part, Mapping) else ():
        if key == "width" and isinstance(value, int | float):
            yield value
        elif key not in ("data", "datasets", "mark", "encoding"):
            yield from _widths(value)


def _element(drawn: str, picture: Picture, name: str, shown: str) -> str:
    """A drawing as it may stand in a page: ids of its own, a sentence for those who do not see it."""
    size = re.search(r'viewBox="0 0 ([\d.]+) [\d.]+"', drawn)
    width = size[1] if size else "600"
    inner = drawn[drawn.index(">") + 1 :]
    view = size[0] if size else ""
    inner = re.sub(r'\bid="', f'id="{name}-', inner)
    inner = re.sub(r'(url\(|href=")#', rf"\1#{name}-", inner)
    inner = re.sub(r'<path class="(?:fore|back)ground"[^>]*/>', "", inner)
    inner = re.sub(r'\baria-label="[^"]*" ?', "", _TOLD.sub(lambda mark: f'data-tip="{_tip(mark[1])}"', inner))
    inner = re.sub(r' (?:role|aria-[a-z]+|pointer-events|class|opacity)="(?:[a-z -]+|1)"', "", inner)
    sentence = visible(picture.sentence)
    return (
        f'<svg role="img" aria-label={quoteattr(sentence)} class="chart {shown}" {view} '
        f'style="width:100%;max-width:{width}px;height:auto;overflow:visible" xmlns="http://www.w3.org/2000/svg">'
        f"<title>{escape(sentence)}</title>{inner}"
    )


def _tip(told: str) -> str:
    """What a mark stands for, in few words: no names of fields that are no words, no endless decimals, no broken lines.

    >>> _tip("people that , were found: 12; y: 0.164166666667; release: before")
    'people that were found: 12; 0.1642; before'
    """
    told = _NAMELESS.sub("", told).replace(" , ", " ")
    return re.sub(r"\d+\.\d{5,}", lambda figure: f"{float(figure[0]):.4g}", told)


def _narrowed(part: Any, width: int) -> Any:
    """A specification with no view wider than this, long titles in lines, and no layer that needs more room."""
    if isinstance(part, list):
        kept = (entry for entry in part if not (isinstance(entry, Mapping) and entry.get("name") == BROAD))
        return [_narrowed(entry, width) for entry in kept]
    if not isinstance(part, Mapping):
        return part
    found: dict[str, Any] = {}
    for key, value in part.items():
        if key == "data":
            found[key] = value
        elif key == "width" and isinstance(value, int | float):
            found[key] = min(value, width)
        elif key == "columns":
            found[key] = 1
        elif key == "title" and isinstance(value, str):
            found[key] = " \n".join(textwrap.wrap(value, _LINE)).split("\n")  # by its blank a tip knows a broken line
        elif key not in ("minExtent", "spacing") and not (key == "labels" and value is False):
            found["vconcat" if key == "hconcat" else key] = _narrowed(value, width)
    across = found.get("x")
    if isinstance(across, dict) and isinstance(across.get("sort"), list):
        axis = across.get("axis") or {}
        across["axis"] = {**axis, **_labelled(axis.get("values") or across["sort"], width)}
    return found


def _labelled(labels: Sequence[Any], width: int) -> dict[str, Any]:
    """Labels side by side are level where each has the room, else aslant; some are left out of very many."""
    level = _LETTER * (1 + max((len(str(label)) for label in labels), default=0)) * len(labels) <= width
    return {"labelAngle": 0 if level else -45, "labelOverlap": "greedy" if _HEIGHT * len(labels) > width else False}
