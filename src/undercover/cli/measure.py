"""``undercover measure``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from undercover.cli.options import Json, SpecFile, read_with_spec
from undercover.cli.output import console, print_json, print_table
from undercover.io.release.manifest import load_release
from undercover.model.release import Release
from undercover.utility.queries.counts import QueryError, about_each
from undercover.verbs.measure import measure
from undercover.verbs.store import load

if TYPE_CHECKING:
    from rich.console import Console


def _beside_optimum(found: Mapping[str, Any]) -> str:
    shown = f"{found['discernibility']:,}"
    if found["discernibility_optimum"] is None:
        return shown
    return f"{shown} (optimum {found['discernibility_optimum']:,}, ratio {found['discernibility_ratio']:.3f})"


def command(
    directory: Annotated[Path, typer.Argument(help="The release folder DIR, or DIR/public.")],
    original: Annotated[str, typer.Option(help="The original table: a file or database URL.")],
    spec: SpecFile = None,
    queries: Annotated[int, typer.Option(min=0, help="Also ask so many random COUNT queries.")] = 0,
    json: Json = False,
) -> None:
    """The options."""
    run(directory, original=original, spec=spec, queries=queries, as_json=json)


def run(directory: Path, *, original: str, spec: Path | None, queries: int, as_json: bool) -> None:
    """Measure a release against its original."""
    if spec is None and (directory / "private").is_dir():
        made = load(directory)
        found = measure(original, made, query_error=_queries(made.release, queries)).to_dict()
    else:
        given, schema, _, _ = read_with_spec(original, spec, {})
        release, _ = load_release(directory / "public" if (directory / "public").is_dir() else directory)
        found = measure(given, release, schema=schema, query_error=_queries(release, queries)).to_dict()
    if as_json:
        print_json(found)
        return
    screen = console()
    loss = found["loss"]
    if found["classes"] is None:
        _print_moved(screen, found)
        _print_kept(screen, found)
        _print_queries(screen, found, queries)
        return
    rows = [
        ["classes", f"{found['classes']:,}"],
        ["average class size", f"{found['average_class_size']:.2f}"],
        ["discernibility", _beside_optimum(found)],
        ["suppressed rows", f"{found['suppressed_rows']:,} ({found['suppressed_share']:.2%})"],
        ["loss (ARX), arithmetic", f"{loss['arx']['arithmetic']:.4f}"],
        ["loss (ARX), geometric", f"{loss['arx']['geometric']:.4f}"],
        ["NCP", f"{loss['ncp']['arithmetic']:.4f}"],
    ]
    print_table(screen, "What the release costs", ["", ""], rows)
    columns = ["column", "loss (ARX)", "NCP"]
    per_column = [
        [name, f"{value:.4f}", f"{loss['ncp']['per_column'][name]:.4f}"]
        for name, value in loss["arx"]["per_column"].items()
    ]
    print_table(screen, "By column (0 = as it was, 1 = nothing left)", columns, per_column)
    _print_kept(screen, found)
    _print_queries(screen, found, queries)


def _queries(release: Release, queries: int) -> tuple[QueryError, ...]:
    return about_each(release, queries) if queries else ()


def _print_kept(screen: Console, found: Mapping[str, Any]) -> None:
    """How much of the distributions a recipient sees."""
    each = found["distances"]["columns"]["each"]
    rows = [[name, f"{distance:.4f}"] for name, distance in each.items()]
    print_table(screen, "Distributions (0 = as they were, 1 = nothing in common)", ["column", "distance"], rows)
    pairs = [
        [" × ".join(one["columns"]), one["kind"], _signed(one["before"]), _signed(one["after"])]
        for one in found["associations"]
    ]
    if pairs:
        print_table(screen, "How columns go together", ["columns", "measure", "before", "after"], pairs)


def _signed(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _print_moved(screen: Console, found: Mapping[str, Any]) -> None:
    """Of a release whose values were drawn: how far they were moved."""
    screen.print("The table has its old shape; there are no classes, so discernibility does not apply.")
    if "displacement" not in found:
        screen.print(found["note"])
        return
    moved, loss = found["displacement"], found["loss"]
    rows = [
        ["cells that changed", f"{moved['changed_cells']:.2%}"],
        ["moved, share of the scale", f"{loss['shift']['arithmetic']:.4f}"],
        ["ILoss, mean per cell", f"{loss['iloss']['arithmetic']:.4f}"],
        ["ILoss, sum as in the paper", f"{moved['iloss_sum']:,.1f}"],
    ]
    print_table(screen, "What the release costs", ["", ""], rows)
    per_column = [
        [name, f"{share:.2%}", f"{loss['shift']['per_column'][name]:.4f}", f"{loss['iloss']['per_column'][name]:.4f}"]
        for name, share in moved["changed_per_column"].items()
    ]
    print_table(screen, "By column, means per cell", ["column", "changed", "moved", "ILoss"], per_column)


def _print_queries(screen: Console, found: Mapping[str, Any], queries: int) -> None:
    if queries:
        asked = [
            [", ".join(one["quasi_identifiers"]), one["sensitive"], f"{one['mean']:.3%}", f"{one['median']:.3%}"]
            for one in found["query_errors"]
        ]
        title = f"Relative error of {queries:,} random COUNT queries each, with one sensitive value"
        print_table(screen, title, ["about", "with", "mean", "median"], asked)
