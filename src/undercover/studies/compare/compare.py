"""Every method on one table: privacy against utility, as far as each can run.

A folder holds the journal of finished releases (:mod:`undercover.studies.experiments.folder`) and, once all are
finished, ``compare.html``, ``compare.csv`` and ``compare.json``. Whoever is interrupted runs the same command again.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from undercover import plugins
from undercover.errors import ParameterError
from undercover.io.plain import as_json, plain
from undercover.io.source import read
from undercover.model.policy import Policy, policy_of
from undercover.model.schema import Schema, check_schema
from undercover.model.table import Table
from undercover.pages.compare import compare_html
from undercover.parameters import make
from undercover.studies.compare.bench import WHY, Bench
from undercover.studies.compare.choice import policy_identity, recommended
from undercover.studies.compare.plan import Planned, plan, without_sweep
from undercover.studies.experiments.experiment import Cell, Experiment
from undercover.studies.experiments.folder import JOURNAL, Finished, folder_of
from undercover.studies.experiments.request import Request
from undercover.studies.experiments.runner import made_with, run_cells
from undercover.verbs.judge import check_policy
from undercover.waiting import Progress, teller, telling
from undercover.whole import write_whole

FILES = ("compare.html", "compare.csv", "compare.json")
NAME = "compare"
MEASURES = 2  # raised whenever a release would be measured differently: older figures are then not used again


class Tried(NamedTuple):
    """An attack that releases are compared by."""

    attack: str
    from_outside: bool = True  # whether it needs nothing that stays with the holder


TRIED = (
    Tried("linkage"),
    Tried("partial-linkage"),
    Tried("informed", from_outside=False),
    Tried("told-groups", from_outside=False),
)

PICTURES = (
    ("attribute", "pairwise", "Learning the value against distance of pairs"),
    ("identity", "pairwise", "Finding the row against distance of pairs"),
    ("attribute", "count", "Learning the value against COUNT error"),
    ("attribute", "classification", "Learning the value against classification error"),
)
"""Privacy measure, utility measure, title: each a picture with its frontier."""

_AXES = {
    "identity": ("privacy", "identity", "mean"),
    "attribute": ("privacy", "attribute", "mean"),
    "pairwise": ("utility", "pairwise", "mean"),
    "count": ("utility", "count", "mean"),
    "classification": ("utility", "classification", "error"),
}


@telling
def compare(
    data: Any,
    schema: Schema,
    out: str | os.PathLike[str],
    *,
    methods: Iterable[str] | str | None = None,
    own: tuple[str, Mapping[str, Any]] | None = None,
    queries: int = 100,
    seed: int = 0,
    policy: Policy | str | os.PathLike[str] | Mapping[str, Any] | None = None,
    fresh: bool = False,
    progress: Progress | bool = False,
) -> dict[str, Any]:
    """Publish a table by every method, attack and measure each release, and write the comparison to a folder.

    ``data`` is a frame, a path or a database URL. Nothing that is made is kept: the releases are drawn with a seed and
    are not for publication. An interrupted comparison in ``out`` is continued. ``own`` is a further method with its
    parameters, such as that of a spec, and ``policy`` what may happen to people, which marks the releases that satisfy
    it. ``progress=True`` shows how far it is on stderr. Returns the content of ``compare.json``.

    >>> import undercover as uc
    >>> example = uc.datasets.hospital("cross-bucket")
    >>> compare(example.table, example.schema, "compared", queries=0)  # see docs/guide/compare.md for one that is made
    Traceback (most recent call last):
    undercover.errors.ParameterError: The 'queries' parameter of compare must be an int in [1, inf). Got 0 instead.
    """
    for name, value, least in (("queries", queries, 1), ("seed", seed, 0)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise ParameterError(
                f"The '{name}' parameter of compare must be an int in [{least}, inf). Got {value!r} instead."
            )
    check_schema(schema)
    tell = teller(progress)
    tell("reading", 0.0)
    given, out = read(data), Path(out)
    tell("encoding", 0.0)
    bench = Bench(given, schema, Table.from_arrow(given.data, schema), queries, seed, policy_of(policy))
    check_policy(bench.policy, bench.table, asked=policy is not None)
    wanted = plugins.chosen("methods", methods)
    planned = plan(bench.table, wanted, own=own)
    experiment = _experiment(bench, planned)
    with folder_of(out, JOURNAL, FILES, "an experiment", private=experiment.private, fresh=fresh):
        finished, reused = run_cells(experiment, out, progress=tell)
        results = _results(experiment, bench, planned, finished, reused, without_sweep(wanted))
        tell(f"{NAME}: writing the results", 1.0)
        for name, content in zip(FILES, (compare_html(results), compare_csv(results), as_json(results)), strict=True):
            write_whole(out / name, content, private=experiment.private)
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
        settings={
            "queries": bench.queries,
            "seed": bench.seed,
            "trees": find_spec("sklearn") is not None,
            "policy": policy_identity(bench.policy),
        },
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
        "policy": bench.policy.to_dict(),
        "recommended": recommended(releases, finished[0].values.get("nothing.pairwise"), bench.policy),
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


def release_entry(planned: Planned, algorithm_safe: bool, found: Mapping[str, Any]) -> dict[str, Any]:
    """One release, as it stands in ``compare.json``."""
    return {
        "title": planned.title,
        "method": planned.method,
        "series": planned.label,
        "parameter": planned.parameter,
        "value": planned.value,
        "parameters": dict(planned.parameters),
        "algorithm_safe": algorithm_safe,
        "verdict": found["verdict"],
        "satisfies": found["verdict.over"] == 0,
        "over": found["verdict.over"],
        "asks": found["verdict.asks"],
        "reasons": found["verdict.reasons"],
        "privacy": {
            "identity": _strongest(found, "identity"),
            "attribute": _strongest(found, "attribute"),
            "corruption": _part(found, "corruption", ("mean", "worst", "growth")),
        },
        "utility": {
            "iloss": found.get("iloss"),
            "count": _part(found, "count", ("mean", "median")),
            "sum": _part(found, "sum", ("mean", "median", "bounds")),
            "marginal": _part(found, "marginal", ("mean", "worst")),
            "pairwise": _part(found, "pairwise", ("mean", "worst")),
            "classification": _part(found, "classification", ("error",)),
        },
        "cost": _part(found, "cost", ("seconds", "verify_seconds", "memory")),
        "rows": found.get("rows"),
        "suppressed": found.get("suppressed"),
        "groups": found.get("groups"),
        "notes": {name.removeprefix(WHY): why for name, why in found.items() if name.startswith(WHY)},
    }


def references(found: Mapping[str, Any]) -> dict[str, Any]:
    """What can be done without a release, and with the table as it is."""
    return {
        "guessing": {
            "identity": found["guessing.identity"],
            "attribute": _part(found, "guessing.attribute", ("mean", "worst")),
            "classification": found.get("guessing.classification"),
        },
        "original": {
            "identity": _part(found, "identity", ("mean", "worst")),
            "attribute": _part(found, "attribute", ("mean", "worst")),
            "classification": _part(found, "classification", ("error",)),
        },
        "notes": {name.removeprefix(WHY): why for name, why in found.items() if name.startswith(WHY)},
    }


def frontiers(releases: Sequence[Mapping[str, Any]], guessing: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Pictures of privacy against utility, with the releases that no other beats in both."""
    drawn = []
    for privacy, utility, title in PICTURES:
        points = [
            {
                "title": release["title"],
                "series": release["series"],
                "value": str(release["value"]),
                "risk": risk,
                "worst": _at(release, (*_AXES[privacy][:-1], "worst")),
                "cost": cost,
                "verdict": release["verdict"],
                "satisfies": release["satisfies"],
            }
            for release in releases
            if (risk := _at(release, _AXES[privacy])) is not None and (cost := _at(release, _AXES[utility])) is not None
        ]
        for point in points:
            point["frontier"] = not any(_beats(other, point) for other in points)
        guess = guessing.get(privacy)
        if points:
            drawn.append(
                {
                    "id": f"{privacy}-{utility}",
                    "title": title,
                    "privacy": privacy,
                    "utility": utility,
                    "guessing": guess["mean"] if isinstance(guess, Mapping) else guess,
                    "points": points,
                }
            )
    return drawn


def grouped_refusals(planned: Sequence[tuple[Planned, Finished]]) -> list[dict[str, Any]]:
    """What could not be run, once for each reason."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for one, outcome in planned:
        if outcome.refused is None:
            continue
        entry = found.setdefault(
            (one.label, outcome.refused),
            {"method": one.method, "series": one.label, "titles": [], "reason": outcome.refused},
        )
        entry["titles"].append(one.title)
    return list(found.values())


CSV_COLUMNS = {
    "title": ("title",),
    "method": ("method",),
    "parameter": ("parameter",),
    "value": ("value",),
    "algorithm_safe": ("algorithm_safe",),
    "verdict": ("verdict",),
    "identity_attack": ("privacy", "identity", "attack"),
    "identity_mean": ("privacy", "identity", "mean"),
    "identity_worst": ("privacy", "identity", "worst"),
    "attribute_attack": ("privacy", "attribute", "attack"),
    "attribute_mean": ("privacy", "attribute", "mean"),
    "attribute_worst": ("privacy", "attribute", "worst"),
    "corruption_mean": ("privacy", "corruption", "mean"),
    "corruption_worst": ("privacy", "corruption", "worst"),
    "corruption_growth": ("privacy", "corruption", "growth"),
    "iloss": ("utility", "iloss"),
    "count_error_mean": ("utility", "count", "mean"),
    "count_error_median": ("utility", "count", "median"),
    "sum_error_mean": ("utility", "sum", "mean"),
    "sum_error_median": ("utility", "sum", "median"),
    "sum_bounds_median": ("utility", "sum", "bounds"),
    "marginal_mean": ("utility", "marginal", "mean"),
    "marginal_worst": ("utility", "marginal", "worst"),
    "pairwise_mean": ("utility", "pairwise", "mean"),
    "pairwise_worst": ("utility", "pairwise", "worst"),
    "classification_error": ("utility", "classification", "error"),
    "seconds": ("cost", "seconds"),
    "verify_seconds": ("cost", "verify_seconds"),
    "memory_bytes": ("cost", "memory"),
    "rows": ("rows",),
    "suppressed": ("suppressed",),
    "groups": ("groups",),
}
"""The columns of ``compare.csv`` and where they stand in an entry of ``compare.json``."""


def compare_csv(results: Mapping[str, Any]) -> str:
    """One line per release, then one per release that could not be made, with the reason."""
    text = io.StringIO()
    writer = csv.DictWriter(text, [*CSV_COLUMNS, "reason"], lineterminator="\n")
    writer.writeheader()
    for release in results["releases"]:
        writer.writerow({name: _at(release, path) for name, path in CSV_COLUMNS.items()})
    for refused in results["refused"]:
        for title in refused["titles"]:
            writer.writerow({"title": title, "method": refused["method"], "reason": refused["reason"]})
    return text.getvalue()


def _part(found: Mapping[str, Any], prefix: str, names: Sequence[str]) -> dict[str, Any] | None:
    """The figures of one measure; ``None`` where there are none."""
    values = {name: found[f"{prefix}.{name}"] for name in names if f"{prefix}.{name}" in found}
    return {name: values.get(name) for name in names} if values else None


def _strongest(found: Mapping[str, Any], what: str) -> dict[str, Any] | None:
    """The attack that discloses most on average, and the worst row of any; beside it what outsiders reach, and all."""
    each = {one: _part(found, f"{what}.{one.attack}", ("mean", "worst")) for one in TRIED}
    figures = {one: values for one, values in each.items() if values is not None}
    tried = {one.attack: values for one, values in figures.items()}
    if not tried:
        return None
    outside = [values for one, values in figures.items() if one.from_outside]
    strongest = max(tried, key=lambda attack: tried[attack]["mean"])
    return {
        "attack": strongest,
        "mean": tried[strongest]["mean"],
        "worst": max(values["worst"] for values in tried.values()),
        "outside": {figure: max(values[figure] for values in outside) for figure in ("mean", "worst")}
        if outside
        else None,
        "by_attack": tried,
    }


def _at(entry: Any, path: Sequence[str]) -> Any:
    for step in path:
        if not isinstance(entry, Mapping):
            return None
        entry = entry.get(step)
    return entry


def _beats(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """At least as good in both and better in one."""
    no_worse = one["risk"] <= other["risk"] and one["cost"] <= other["cost"]
    return bool(no_worse and (one["risk"] < other["risk"] or one["cost"] < other["cost"]))
