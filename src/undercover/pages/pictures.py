"""Pictures of how a release came about, where its method has one: output tables, the lattice, the map of promises.

The figures are part of the summary; the charts are made from it. All of it is private.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from undercover.guarantees.breach.map import guarantee_chart, guarantee_facts
from undercover.model.about import about_of
from undercover.model.run import Run
from undercover.model.view import Picture

EMPTY: Final[Mapping[str, Any]] = {"output_tables": [], "lattice": None, "promises": None}
"""What ``report.json`` says of the pictures it has always named where there are none."""


def pictures(run: Run) -> dict[str, Any]:
    """The figures by name: those of the method's own drawings, and the map of ``promises``."""
    found = {drawing.name: drawing.facts(run) for drawing in about_of(run.release.method).pictures}
    return {**EMPTY, **found, "promises": guarantee_facts(run.release)}


def picture_charts(method: str, found: Mapping[str, Any]) -> dict[str, list[Picture]]:
    """The charts of :func:`pictures`, by the same names; none of what is empty."""
    drawn = {drawing.name: drawing.charts for drawing in about_of(method).pictures} | {"promises": _maps}
    return {name: list(drawn[name](facts)) for name, facts in found.items() if facts}


def _maps(promises: Mapping[str, Any]) -> list[Picture]:
    """The map of the growth, and before it that of the breach where one was asked about."""
    chosen = (promises["k"], promises["p"])
    measures = ["growth"] if promises["rho1"] is None else ["rho2", "growth"]
    return [guarantee_chart(promises["grid"], measure, chosen=chosen) for measure in measures]
