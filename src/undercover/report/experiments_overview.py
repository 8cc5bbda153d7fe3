"""The page of all experiments: every claim of every paper with its verdict, and where the figures are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from undercover.report.experiment import VERDICTS
from undercover.report.html import render


def experiments_overview_html(overview: Mapping[str, Any]) -> str:
    """One self-contained page that links to those of the experiments; takes the content of ``overview.json``.

    Examples
    --------
    >>> waiting = dict(experiment="toy", title="A toy", paper="", state="not run yet", page="toy/experiment.html")
    >>> page = experiments_overview_html(dict(private=False, quick=True, experiments=[waiting], made_with={}))
    >>> page.startswith("<!DOCTYPE html>"), "not run yet" in page
    (True, True)
    """
    entries = []
    for entry in overview["experiments"]:
        found = Counter(claim["verdict"] for claim in entry.get("claims", ()))
        entries.append({**entry, "verdicts": {verdict: found[verdict] for verdict in VERDICTS}})
    counts = {verdict: sum(entry["verdicts"][verdict] for entry in entries) for verdict in VERDICTS}
    finished = sum(entry["state"] == "finished" for entry in entries)
    waiting = sum(entry["state"] == "not run yet" for entry in entries)
    return render(
        "experiments_overview.html.j2",
        overview={**overview, "experiments": entries},
        verdicts=[(verdict, look, counts[verdict]) for verdict, look in VERDICTS.items()],
        looks=VERDICTS,
        total=sum(counts.values()),
        finished=finished,
        failed=len(entries) - finished - waiting,
    )
