"""Every method on one table: privacy against utility, as far as each can run.

A folder holds the journal of finished releases (:mod:`undercover.studies.experiments.journal`) and, once all are
finished, ``compare.html``, ``compare.csv`` and ``compare.json``. Whoever is interrupted runs the same command again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from undercover import plugins
from undercover.errors import ParameterError
from undercover.io.plain import as_json, plain
from undercover.io.source import read
from undercover.model.protocols import Progress, no_progress
from undercover.model.schema import Schema
from undercover.model.table import Table
from undercover.pages.compare import compare_html
from undercover.parameters import make
from undercover.studies.compare.bench import Bench
from undercover.studies.compare.plan import Planned, plan, without_sweep
from undercover.studies.compare.results import compare_csv, frontiers, grouped_refusals, references, release_entry
from undercover.studies.experiments.experiment import Cell, Experiment
from undercover.studies.experiments.journal import Finished
from undercover.studies.experiments.outputs import write_whole
from undercover.studies.experiments.request import Request
from undercover.studies.experiments.runner import made_with, run_cells

FILES = ("compare.html", "compare.csv", "compare.json")
NAME = "compare"
MEASURES = 1  # raised whenever a release would be measured differently: older figures are then not used again


def compare(
    data: Any,
    schema: Schema,
    out: Path,
    *,
    methods: Iterable[str] | None = None,
    own: tuple[str, Mapping[str, Any]] | None = None,
    queries: int = 100,
    seed: int = 0,
    fresh: bool = False,
    progress: Progress = no_progress,
) -> dict[str, Any]:
    """Publish a table by every method, attack and measure each release, and write the comparison.

    Nothing that is made is kept: the releases are drawn with a seed and are not for publication. An interrupted
    comparison in ``out`` is continued. ``own`` is a further method with its parameters, such as that of a spec. Returns
    the content of ``compare.json``.
    """
    for name, value, least in (("queries", queries, 1), ("seed", seed, 0)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise ParameterError(
                f"The '{name}' parameter of compare must be an int in [{least}, inf). Got {value!r} instead."
            )
    given = read(data)
    progress("encoding", 0.0)
    bench = Bench(given, schema, Table.from_arrow(given.data, schema), queries, seed)
    wanted = list(plugins.names("methods") if methods is None else dict.fromkeys(methods))
    planned = plan(bench.table, wanted, own=own)
    experiment = _experiment(bench, planned)
    finished, reused = run_cells(experiment, out, FILES, fresh=fresh, progress=progress)
    results = _results(experiment, bench, planned, finished, reused, without_sweep(wanted))
    progress("writing the results", 1.0)
    for name, content in zip(FILES, (compare_html(results), compare_csv(results), as_json(results)), strict=True):
        write_whole(out / name, content)
    return results


def _experiment(bench: Bench, planned: Sequence[Planned]) -> Experiment:
    """The comparison as cells: the table as it is, and one for every release."""
    source = Request(given=bench.given, schema=bench.schema).source(
        lambda: bench.given.data, {"name": ""}, bench.schema
    )
    releases = [
        Cell(
            figure=one.label,
            series=one.parameter or "its parameters",
            x=str(one.value),
            measure=bench.release,
            parameters={"method": one.method, "parameters": dict(one.parameters)},
        )
        for one in planned
    ]
    return Experiment(
        name=NAME,
        title="Methods side by side",
        paper="",
        version=MEASURES,
        data={**source.identity, "name": source.name},
        cells=[Cell(figure="the table", series="as it is", x="", measure=bench.original), *releases],
        plots=lambda rows: [],
        claims=[],
        prepare=partial(bench.prepare, planned),
        settings={"queries": bench.queries, "seed": bench.seed, "trees": find_spec("sklearn") is not None},
        private=True,
    )


def _results(
    experiment: Experiment,
    bench: Bench,
    planned: Sequence[Planned],
    finished: Sequence[Finished],
    reused: int,
    unknown_methods: Sequence[str],
) -> dict[str, Any]:
    known = references(finished[0].values)
    pairs = list(zip(planned, finished[1:], strict=True))
    releases = [
        release_entry(one, make("methods", one.method, one.parameters).algorithm_safe, outcome.values)
        for one, outcome in pairs
        if outcome.refused is None
    ]
    refused = grouped_refusals(pairs) + [
        {"method": name, "series": name, "titles": [name], "reason": "No values of its parameters are set to compare."}
        for name in unknown_methods
    ]
    table, schema = bench.table, bench.schema
    content = {
        "compare": experiment.title,
        "private": experiment.private,
        "data": dict(experiment.data),
        "table": {
            "rows": table.n_rows,
            "left_out": table.n_input - table.n_rows,
            "quasi_identifiers": list(schema.quasi_identifiers),
            "sensitive": list(schema.sensitive),
            "insensitive": list(schema.insensitive),
        },
        "settings": dict(experiment.settings),
        **known,
        "releases": releases,
        "frontiers": frontiers(releases, known["guessing"]),
        "refused": refused,
        "counts": {
            "releases": len(releases),
            "methods": len({release["method"] for release in releases}),
            "refused": sum(len(entry["titles"]) for entry in refused),
        },
        "timings": {"cells": len(finished), "reused": reused, "seconds": sum(outcome.seconds for outcome in finished)},
        "made_with": made_with(),
    }
    results: dict[str, Any] = plain(content)
    return results
