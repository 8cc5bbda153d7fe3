"""From a summary to one self-contained page: no outside asset, no script, readable printed, light and dark.

Every figure stands in a ``<data value="…">`` element whose value is the full-precision number of the summary, so that
a page can be checked against the JSON. Jinja2 is imported when the first page is made.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from undercover.errors import InternalError
from undercover.model import figures
from undercover.pages.charts.bars import (
    attribute_chart,
    class_size_chart,
    comparison_chart,
    loss_chart,
    match_size_chart,
)
from undercover.pages.charts.kept import association_chart, distribution_chart, query_error_chart
from undercover.pages.charts.lines import disclosure_charts
from undercover.pages.pictures import picture_charts
from undercover.pages.svg import Chart

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


def report_html(summary: Mapping[str, Any]) -> str:
    """The private report; takes what :func:`undercover.pages.summarize` returns.

    >>> report_html({"private": False})
    Traceback (most recent call last):
    undercover.errors.InternalError: The report takes the private summary of a run.
    """
    if not summary.get("private"):
        raise InternalError("The report takes the private summary of a run.")
    attacks = [
        {
            **attack,
            "match_chart": _picture(match_size_chart(attack, f"match-{position}")),
            "attribute_charts": {
                column: _picture(attribute_chart(attack, column, f"attribute-{position}-{place}"))
                for place, column in enumerate(attack["attribute_histogram"])
            },
        }
        if attack.get("attack") == "linkage"
        else {
            **attack,
            **{key: _picture(chart) for key, chart in disclosure_charts(attack, f"attack-{position}").items()},
        }
        for position, attack in enumerate(summary["attacks"])
    ]
    sizes, cost = summary["class_sizes"], summary["cost"]
    drawn = picture_charts(summary["asked"]["method"]["name"], summary["pictures"])
    return render(
        "report.html.j2",
        summary={**summary, "attacks": attacks},
        size_chart=_picture(class_size_chart(sizes)) if sizes["histogram"] else None,
        loss_chart=_picture(loss_chart(cost["columns"])) if cost and cost["columns"] else None,
        kept_charts=_kept_charts(cost or {}),
        picture_charts={name: [_picture(chart) for chart in charts] for name, charts in drawn.items()},
    )


def datasheet_html(summary: Mapping[str, Any]) -> str:
    """The public datasheet; takes what :func:`undercover.pages.datasheet_summary` returns and nothing private.

    >>> datasheet_html({"private": True})
    Traceback (most recent call last):
    undercover.errors.InternalError: The datasheet is public: it takes the summary of a release, not that of a run.
    """
    if summary.get("private") is not False:
        raise InternalError("The datasheet is public: it takes the summary of a release, not that of a run.")
    return render("datasheet.html.j2", summary=summary)


def overview_html(entries: Sequence[Mapping[str, Any]], *, title: str = "Methods side by side", about: str = "") -> str:
    """Several releases of one table on one page, for the holder.

    Parameters
    ----------
    entries
        One mapping per release: ``summary`` (of :func:`undercover.pages.summarize`), and where there are files to
        link to, ``report`` and ``datasheet`` as paths relative to the page; ``title`` where the summary's will not do.
    title, about
        The heading, and a paragraph on the data.

    Examples
    --------
    >>> "Nothing was published" in overview_html([])
    True
    """
    listed = [{**entry, "title": entry.get("title") or entry["summary"]["title"]} for entry in entries]
    drawn = [
        {"title": entry["title"], "headline": entry["summary"]["headline"], "cost": entry["summary"]["cost"]}
        for entry in listed
    ]
    drawable = any(entry["headline"] or entry["cost"] for entry in drawn)
    return render(
        "overview.html.j2",
        entries=listed,
        title=title,
        about=about,
        chart=_picture(comparison_chart(drawn)) if drawable else None,
    )


def _kept_charts(cost: Mapping[str, Any]) -> dict[str, Markup]:
    """The pictures of what a recipient still sees, as far as it was measured."""
    found = {}
    if cost.get("distributions"):
        found["distributions"] = distribution_chart(cost["distributions"], cost["distances"]["columns"]["each"])
    if any(entry["change"] is not None for entry in cost.get("associations", ())):
        found["associations"] = association_chart(cost["associations"])
    if cost.get("query_errors"):
        found["queries"] = query_error_chart(cost["query_errors"])
    return {name: _picture(chart) for name, chart in found.items()}


def render(template: str, **values: Any) -> str:
    """One of the templates, filled in.

    >>> "<strong>A &amp; B</strong>" in render(
    ...     "card.html.j2", title="A & B", lines=[], edge="black", following="", private=False
    ... )
    True
    """
    return _environment().get_template(template).render(**values)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("undercover.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    formats: dict[str, Callable[[Any], str]] = {
        "risk": figures.risk,
        "baseline": figures.baseline,
        "cost": figures.cost,
        "number": figures.number,
        "signed": figures.signed,
        "seconds": figures.seconds,
        "memory": figures.memory,
    }
    environment.filters.update({name: _figure(written) for name, written in formats.items()})
    environment.filters.update(code=_with_code, parameters=figures.parameters, span=figures.span)
    return environment


def _figure(written: Callable[[Any], str]) -> Callable[[Any], Markup]:
    """A filter that shows a figure and carries its exact value; a figure there is none of is a dash."""
    from markupsafe import Markup

    def shown(value: Any) -> Markup:
        if value is None:
            return Markup("–")
        return Markup('<data value="{}">{}</data>').format(repr(value), written(value))

    return shown


def _with_code(text: str) -> Markup:
    """Text with what stands in backticks set as code."""
    from markupsafe import Markup, escape

    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def _picture(chart: Chart) -> Markup:
    from markupsafe import Markup

    return Markup(chart.svg())
