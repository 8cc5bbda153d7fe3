"""A chart as a Vega-Lite spec, and its rendering to SVG that can stand inside a page.

Colours are CSS: text and axes take ``currentColor``, series a custom property with a fallback, so that one rendering
serves light, dark and print. Nothing is fetched; fonts are whatever sans-serif the reader has.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape, quoteattr

INK = "currentColor"
# Okabe & Ito 2008: told apart by people with any of the usual colour deficiencies, and by their lightness in print.
BEFORE = "var(--before, #d55e00)"
AFTER = "var(--after, #0072b2)"
GUESS = "var(--guess, #767676)"

_CONFIG: dict[str, Any] = {
    "background": "transparent",
    "aria": False,
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


@dataclass(frozen=True)
class Chart:
    """A picture with its text alternative.

    Parameters
    ----------
    name
        Unique on the page; ids inside the SVG are prefixed with it.
    spec
        Vega-Lite, with its data.
    description
        What the picture shows, in a sentence that stands on its own.

    Examples
    --------
    >>> spec = {"data": {"values": [{"x": 1}]}, "mark": "point", "encoding": {"x": {"field": "x"}}}
    >>> text = Chart("points", spec, "One point & no more").svg()
    >>> text[:66]
    '<svg role="img" aria-label="One point &amp; no more" class="chart"'
    """

    name: str
    spec: dict[str, Any]
    description: str

    @property
    def values(self) -> list[dict[str, Any]]:
        """The rows that are drawn."""
        rows: list[dict[str, Any]] = self.spec["data"]["values"]
        return rows

    def svg(self) -> str:
        """The picture as an SVG element."""
        import vl_convert

        drawn: str = vl_convert.vegalite_to_svg({**self.spec, "config": _CONFIG})
        size = re.search(r'viewBox="0 0 ([\d.]+) [\d.]+"', drawn)
        width = size[1] if size else "600"
        inner = drawn[drawn.index(">") + 1 :]
        view = size[0] if size else ""
        inner = re.sub(r'\bid="', f'id="{self.name}-', inner)
        inner = re.sub(r'(url\(|href=")#', rf"\1#{self.name}-", inner)
        inner = re.sub(r'<path class="(?:fore|back)ground"[^>]*/>', "", inner)
        inner = re.sub(r' (?:role|aria-[a-z]+|pointer-events|class|opacity)="(?:[a-z -]+|1)"', "", inner)
        return (
            f'<svg role="img" aria-label={quoteattr(self.description)} class="chart" {view} '
            f'style="width:100%;max-width:{width}px;height:auto;overflow:visible" xmlns="http://www.w3.org/2000/svg">'
            f"<title>{escape(self.description)}</title>{inner}"
        )
