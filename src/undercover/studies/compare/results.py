"""From measured figures to the content of ``compare.json`` and ``compare.csv``: nothing is computed after this."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from undercover.studies.compare.bench import WHY
from undercover.studies.compare.plan import Planned
from undercover.studies.experiments.journal import Finished

INFORMED = "informed"
ATTACKS = ("linkage", "partial-linkage", INFORMED)

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
                "cost": cost,
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
    """One line per release, then one per release that could not be made, with the reason.

    >>> print(compare_csv({"releases": [], "refused": []}).count("\\n"))
    1
    """
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
    each = {attack: _part(found, f"{what}.{attack}", ("mean", "worst")) for attack in ATTACKS}
    tried = {attack: values for attack, values in each.items() if values is not None}
    if not tried:
        return None
    outside = [values for attack, values in tried.items() if attack != INFORMED]
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
