"""From a summary to one self-contained page: no outside asset, whole without its script and printed, light and dark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from undercover.errors import InternalError
from undercover.exact import Number, exact
from undercover.guarantees.breach.bounds import Bound
from undercover.guarantees.breach.map import TITLES, guarantee_chart
from undercover.io.plain import plain
from undercover.model.figures import LOSSES, cost, risk
from undercover.model.view import AFTER, INK, Picture, View, room
from undercover.pages.jinja import drawn, render
from undercover.pages.looks import SIGNS, VERDICTS
from undercover.pages.pictures import picture_charts
from undercover.pages.views import section

_BADGES: Final = {
    "identifier": "bad",
    "sensitive": "care",
    "quasi-identifier": "known",
    "insensitive": "known",
    "none": "open",
}


def report_html(summary: Mapping[str, Any]) -> str:
    """The private report; takes what :func:`undercover.pages.summary.summarize` returns.

    >>> report_html({"private": False})
    Traceback (most recent call last):
    undercover.errors.InternalError: The report takes the private summary of a run.
    """
    if not summary.get("private"):
        raise InternalError("The report takes the private summary of a run.")
    charts = picture_charts(summary["asked"]["method"]["name"], summary["pictures"])
    sections = {
        view.kind: {"title": view.title, "html": section(View.of(plain(view.to_dict())), name=f"s{place}")}
        for place, view in enumerate(summary["sections"])
    }
    return render(
        "report.html.j2",
        summary=summary,
        sections=sections,
        picture_charts={name: [drawn(chart) for chart in several] for name, several in charts.items()},
    )


def datasheet_html(summary: Mapping[str, Any]) -> str:
    """The public datasheet; takes what ``datasheet_summary`` returns and nothing private.

    >>> datasheet_html({"private": True})
    Traceback (most recent call last):
    undercover.errors.InternalError: The datasheet is public: it takes the summary of a release, not that of a run.
    """
    if summary.get("private") is not False:
        raise InternalError("The datasheet is public: it takes the summary of a release, not that of a run.")
    return render("datasheet.html.j2", summary=summary)


def inspection_html(found: Mapping[str, Any], risks: View, name: str) -> str:
    """A table before anything is published, for the holder: columns, what is to be decided, who is singled out.

    Takes what an inspection of the table ``name`` says, and shows, of its risks.
    """
    alone = found["class_sizes"][0]["rows"] if found["class_sizes"] else None
    repeated = {one["column"]: one for one in found["repeated_identifiers"]}
    return render(
        "inspection.html.j2",
        found=found,
        name=name,
        badges=_BADGES,
        questions={question["column"]: question for question in found["questions"]},
        alone=alone,
        people=repeated[found["unit"]]["values"] if found["unit"] in repeated else None,
        people_shown=section(replace(risks, title="Who is singled out"), name="people"),
    )


def overview_html(entries: Sequence[Mapping[str, Any]], *, title: str = "Methods side by side", about: str = "") -> str:
    """Several releases of one table on one page, for the holder; ``about`` is a paragraph on the data.

    Each entry has the ``summary`` of its run and, where there are files to link to, ``report`` and ``datasheet`` as
    paths relative to the page; ``title`` where the summary's will not do.
    """
    listed = [
        {
            **entry,
            "title": entry.get("title") or entry["summary"]["title"],
            "promises": [one for one in entry["summary"]["holds"]["findings"] if not _empty(one)],
        }
        for entry in entries
    ]
    compared = [
        {"title": entry["title"], **{key: entry["summary"][key] for key in ("headline", "cost", "verdict")}}
        for entry in listed
    ]
    drawable = any(entry["headline"] or entry["cost"] for entry in compared)
    return render(
        "overview.html.j2",
        entries=listed,
        title=title,
        about=about,
        chart=drawn(comparison_chart(compared)) if drawable else None,
    )


def _empty(finding: Mapping[str, Any]) -> bool:
    """Whether a promise asks for what any table keeps: at least one row, or one value."""
    return bool(finding["sense"] == "at least" and finding["required"] == 1)


def comparison_chart(entries: Sequence[Mapping[str, Any]]) -> Picture:
    """Methods side by side: mean identity and attribute disclosure beside guessing, and the loss.

    Each entry has a ``title`` and the ``headline`` and ``cost`` of its summary; what one lacks is left out. Bars have
    the colour of its ``verdict``, and titles the sign of it.
    """
    import altair as alt

    rows: list[dict[str, Any]] = []
    for entry in entries:
        found = entry.get("headline") or {}
        for key, label in (("identity", "finding the row"), ("attribute", "learning the value")):
            if found.get(key):
                mean, guess = (
                    found[key]["after_mean"],
                    found[key]["baseline_mean" if key == "attribute" else "baseline"],
                )
                rows.append({"method": entry["title"], "measure": label, "value": mean, "guess": guess})
        losses = entry["cost"]["loss"] if entry.get("cost") else {}
        if losses:
            kind = "arx" if "arx" in losses else "shift"
            loss = losses[kind]["arithmetic"]
            rows.append({"method": entry["title"], "measure": LOSSES[kind], "value": loss, "guess": None})
    measures = list(dict.fromkeys(row["measure"] for row in rows))
    titles = [str(entry["title"]) for entry in entries]
    said = {str(entry["title"]): str(entry.get("verdict") or "") for entry in entries}
    signed = {title: _signed(title, verdict) for title, verdict in said.items()}
    for row in rows:
        verdict = said[row["method"]]
        row |= {"verdict": _signed(verdict, verdict), "label": signed[row["method"]]}
    present = dict.fromkeys(verdict for verdict in (*VERDICTS, *said.values()) if verdict in said.values())
    seen = {_signed(verdict, verdict): VERDICTS.get(verdict, AFTER) for verdict in present}
    colors = alt.Color(
        "verdict:N",
        legend=alt.Legend(symbolType="square") if any(said.values()) else None,
        scale=alt.Scale(domain=list(seen), range=list(seen.values())),
    )
    panels = []
    for position, measure in enumerate(measures):
        extent = 0 if position else room(list(signed.values()))
        labels = alt.Axis(labels=not position, ticks=False, domain=False, title=None, minExtent=extent)
        base = alt.Chart(width=210, height=alt.Step(26), title=measure).transform_filter(alt.datum.measure == measure)
        # Every panel has all rows, also those it says nothing of: a bar must stand where its name does.
        order = list(signed.values())
        y = alt.Y("label:N", sort=order, scale=alt.Scale(domain=order), axis=labels)
        lost = measure in LOSSES.values()
        axis = alt.Axis(format="~g" if lost else ".3~%", tickCount=4)
        bars = base.mark_bar().encode(x=alt.X("value:Q", title=None, axis=axis), y=y, color=colors)
        ticks = base.mark_tick(color=INK, thickness=3, size=22).encode(x=alt.X("guess:Q"), y=y)
        panels.append(bars if lost else bars + ticks)
    chart = alt.hconcat(*panels, data=alt.NamedData("rows"), spacing=24)
    described = "Mean disclosure after the release and what it cost, for each method: " + "; ".join(
        f"{title}: "
        + ", ".join(
            f"{row['measure']} {cost(row['value']) if row['guess'] is None else risk(row['value'])}"
            for row in rows
            if row["method"] == title
        )
        for title in titles
    )
    return Picture.of("comparison", chart, rows, f"{described}.")


def _signed(text: str, verdict: str) -> str:
    """With the sign of a verdict, for those who do not see its colour."""
    return f"{SIGNS[verdict]} {text}" if verdict in SIGNS else text


def guarantee_html(
    grid: Sequence[Mapping[str, Any]], *, rho1: Number | None, domain: int, skew: Number, bound: Bound
) -> str:
    """What perturbed generalization promises over k and p, as maps; without ``rho1`` that of the growth alone."""
    return render(
        "guarantee.html.j2",
        maps=[
            {"title": title, "chart": drawn(guarantee_chart(grid, measure))}
            for measure, title in TITLES.items()
            if measure != "rho2" or rho1 is not None
        ],
        rho1=None if rho1 is None else f"{float(exact(rho1)):g}",
        skew=f"{float(exact(skew)):g}",
        domain=domain,
        bound=bound,
    )
