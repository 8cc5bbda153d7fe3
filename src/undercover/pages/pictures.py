"""Pictures of how a release came about, where its method has one: output tables, the lattice, the map of promises.

The figures are part of the summary; the charts are made from it. All of it is private.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from undercover.guarantees.breach.map import guarantee_chart, guarantee_facts
from undercover.methods.mutual_cover.picture import output_table_chart, shown_tables
from undercover.model.run import Run
from undercover.pages.charts.lattice import lattice_chart, lattice_facts
from undercover.pages.svg import Chart


def pictures(run: Run) -> dict[str, Any]:
    """The figures: ``output_tables``, ``lattice`` and ``promises``, each empty where the method has no such thing.

    >>> import undercover as uc
    >>> schema = uc.Schema(quasi_identifiers=["age"], sensitive="income")
    >>> pictures(uc.publish(uc.datasets.census(1000), schema, uc.Mondrian(k=10)))
    {'output_tables': [], 'lattice': None, 'promises': None}
    """
    return {
        "output_tables": shown_tables(run),
        "lattice": lattice_facts(run),
        "promises": guarantee_facts(run.release),
    }


def picture_charts(found: Mapping[str, Any]) -> dict[str, list[Chart]]:
    """The charts of :func:`pictures`, in the order of its entries.

    >>> picture_charts({"output_tables": [], "lattice": None, "promises": None})
    {'output_tables': [], 'lattice': [], 'promises': []}
    """
    lattice, promises = found.get("lattice"), found.get("promises")
    return {
        "output_tables": [
            output_table_chart(table, f"output-table-{place}")
            for place, table in enumerate(found.get("output_tables", ()))
        ],
        "lattice": [lattice_chart(lattice)] if lattice else [],
        "promises": _maps(promises) if promises else [],
    }


def _maps(promises: Mapping[str, Any]) -> list[Chart]:
    """The map of the growth, and before it that of the breach where one was asked about."""
    chosen = (promises["k"], promises["p"])
    measures = ["growth"] if promises["rho1"] is None else ["rho2", "growth"]
    return [guarantee_chart(promises["grid"], measure, chosen=chosen) for measure in measures]
