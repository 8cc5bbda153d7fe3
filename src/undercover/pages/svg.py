"""A picture as SVG that can stand inside a page.

Colours are CSS: text and axes take ``currentColor``, series a custom property with a fallback, so that one rendering
serves light, dark and print. Nothing is fetched; fonts are whatever sans-serif the reader has. What a bar, a point or a
field stands for is its ``data-tip``, which the script of the page shows.
"""

from __future__ import annotations

import re
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from undercover.model.view import AFTER, INK, Picture

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
_NAMELESS = re.compile(r"(?:(?<=^)|(?<=; ))(?:x|y|shown|value|series|line|which|release|measure): ")


def svg(picture: Picture, name: str = "") -> str:
    """A picture as an SVG element; ``name`` begins its ids where that of the picture is not the only one on a page.

    >>> spec = {"data": {"values": [{"x": 1}]}, "mark": "point", "encoding": {"x": {"field": "x"}}}
    >>> svg(Picture("points", spec, "One point & no more"))[:66]
    '<svg role="img" aria-label="One point &amp; no more" class="chart"'
    """
    import vl_convert

    drawn: str = vl_convert.vegalite_to_svg({**picture.spec, "config": _CONFIG})
    name = name or picture.name
    size = re.search(r'viewBox="0 0 ([\d.]+) [\d.]+"', drawn)
    width = size[1] if size else "600"
    inner = drawn[drawn.index(">") + 1 :]
    view = size[0] if size else ""
    inner = re.sub(r'\bid="', f'id="{name}-', inner)
    inner = re.sub(r'(url\(|href=")#', rf"\1#{name}-", inner)
    inner = re.sub(r'<path class="(?:fore|back)ground"[^>]*/>', "", inner)
    inner = re.sub(r'\baria-label="[^"]*" ?', "", _TOLD.sub(lambda mark: f'data-tip="{_tip(mark[1])}"', inner))
    inner = re.sub(r' (?:role|aria-[a-z]+|pointer-events|class|opacity)="(?:[a-z -]+|1)"', "", inner)
    return (
        f'<svg role="img" aria-label={quoteattr(picture.sentence)} class="chart" {view} '
        f'style="width:100%;max-width:{width}px;height:auto;overflow:visible" xmlns="http://www.w3.org/2000/svg">'
        f"<title>{escape(picture.sentence)}</title>{inner}"
    )


def _tip(told: str) -> str:
    """What a mark stands for, in few words: no names of fields that are no words, no endless decimals.

    >>> _tip("people: 12; y: 0.164166666667; release: before")
    'people: 12; 0.1642; before'
    """
    return re.sub(r"\d+\.\d{5,}", lambda figure: f"{float(figure[0]):.4g}", _NAMELESS.sub("", told))
