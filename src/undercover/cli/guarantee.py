"""``undercover guarantee``: what perturbed generalization promises, before any table is touched."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, cast

import typer

from undercover.cli.options import Force, Json
from undercover.cli.output import console, print_json, print_table
from undercover.errors import ParameterError, unknown
from undercover.exact import Number, exact
from undercover.guarantees.breach.bounds import (
    BOUNDS,
    Bound,
    attained,
    cell_size,
    checked_growth,
    checked_rho,
    growth_bound,
    guarantee_grid,
    largest_p,
    rho2_bound,
)
from undercover.model.finding import shown
from undercover.whole import check_file, is_page, write_whole

Figures = dict[str, Any]
_KS = (2, 4, 6, 8, 10)
_PS: tuple[Number, ...] = (0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45)


def command(
    domain: Annotated[int, typer.Option(help="Number of values in the declared domain.")],
    k: Annotated[int | None, typer.Option(help="The least people of a cell.")] = None,
    sample: Annotated[str | None, typer.Option(help="Instead of k: the share of rows that may be published.")] = None,
    p: Annotated[str | None, typer.Option(help="Probability of keeping a value.")] = None,
    rho1: Annotated[str | None, typer.Option(help="How sure he is of a property beforehand.")] = None,
    rho2: Annotated[str | None, typer.Option(help="Instead of p: how sure he may be afterwards.")] = None,
    growth: Annotated[str | None, typer.Option(help="Instead of p: by how much he may become surer.")] = None,
    skew: Annotated[str, typer.Option(help="How sure he may be of a single value beforehand.")] = "1",
    bound: Annotated[str, typer.Option(help="tight, or the paper's.")] = "tight",
    page: Annotated[Path | None, typer.Option("--map", help="Write a page with a heat map over k and p.")] = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Compute the promise of a p, or the largest p for a promise."""
    if bound not in BOUNDS:
        raise ParameterError(unknown("Bound", bound, BOUNDS))
    if (k is None) == (sample is None):
        raise ParameterError("Give the least people of a cell as --k, or the share of rows to publish as --sample.")
    given = [name for name, value in (("--p", p), ("--rho2", rho2), ("--growth", growth)) if value is not None]
    if len(given) != 1:
        raise ParameterError(f"Give exactly one of --p, --rho2 and --growth. Got {' and '.join(given) or 'none'}.")
    if rho2 is not None and rho1 is None:
        raise ParameterError("--rho2 is reached from somewhere: give --rho1 too.")
    if page is not None:
        check_file(page, force=force, ours=is_page)
    people = k if k is not None else cell_size(cast(str, sample))
    found = _computed(people, domain, p, rho1, rho2, growth, skew)
    main: Bound = "paper" if bound == "paper" else "tight"
    grid = guarantee_grid(ks=_KS, ps=_PS, rho1=rho1 or 0, domain=domain, skew=skew, bound=main)
    if page is not None:
        from undercover.pages.render import guarantee_html

        write_whole(page, guarantee_html(grid, rho1=rho1, domain=domain, skew=skew, bound=main))
    if json:
        asked = {"k": people, "domain": domain, "skew": _float(skew), "bound": bound}
        asked |= {"rho1": _float(rho1)} if rho1 is not None else {}
        fields = [{key: value for key, value in entry.items() if key != "rho2" or rho1 is not None} for entry in grid]
        print_json({**asked, **found[main], **found, "grid": fields})
    else:
        _print(people, domain, skew, rho1, found, grid, main)


def _computed(
    k: int, domain: int, p: str | None, rho1: str | None, rho2: str | None, growth: str | None, skew: str
) -> dict[str, Figures]:
    """For both bounds: p, what it promises, and whether some prior attains it."""
    found: dict[str, Figures] = {}
    for bound in BOUNDS:
        keep: Number
        if p is not None:
            keep = p
        elif rho2 is not None:
            rho = checked_rho("undercover guarantee", (rho1, rho2))
            keep = largest_p(rho=rho, k=k, domain=domain, skew=skew, bound=bound)
        else:
            wanted = checked_growth("undercover guarantee", growth)
            keep = largest_p(growth=wanted, k=k, domain=domain, skew=skew, bound=bound)
        reached = {"p": _float(keep), "growth": growth_bound(p=keep, k=k, domain=domain, skew=skew, bound=bound)}
        if rho1 is not None:
            reached["rho2"] = rho2_bound(rho1=rho1, p=keep, k=k, domain=domain, skew=skew, bound=bound)
        if bound == "tight":
            attainable = {"growth": attained(domain=domain, skew=skew, p=keep, k=k)}
            attainable |= {"rho2": attained(domain=domain, skew=skew, rho1=rho1)} if rho1 is not None else {}
            found[bound] = {**reached, "attained": attainable}
        else:
            found[bound] = reached
    return found


def _print(
    k: int, domain: int, skew: str, rho1: str | None, found: dict[str, Figures], grid: list[Figures], bound: Bound
) -> None:
    screen = console()
    screen.print(
        f"Cells of at least {k:,} people, a declared domain of {domain:,} values, an adversary who knows everybody "
        f"else's value and is at most {_float(skew):.0%} sure of any one value of the victim beforehand."
    )
    lines = [["largest p that is safe" if found["tight"]["p"] != found["paper"]["p"] else "p", "p", "at least"]]
    if rho1 is not None:
        lines.append([f"sure of a property by {_float(rho1):g} before: afterwards at most", "rho2", "at most"])
    lines.append(["nobody becomes surer by more than", "growth", "at most"])
    rows = [
        [text, *(shown(found[kind][key], "at least" if sense == "at least" else "at most") for kind in BOUNDS)]
        for text, key, sense in lines
    ]
    print_table(screen, "What is promised", ["", "tight", "paper"], rows)
    measures = [("growth", "Δ")] if rho1 is None else [("rho2", f"ρ2 from ρ1 = {_float(rho1):g}"), ("growth", "Δ")]
    for measure, title in measures:
        fields = {(entry["k"], entry["p"]): shown(entry[measure], "at most") for entry in grid}
        columns = ["k", *(f"p={_float(p):g}" for p in _PS)]
        rows = [[str(size), *(fields[size, _float(p)] for p in _PS)] for size in _KS]
        print_table(screen, f"{title} over k and p ({bound} bound)", columns, rows)
    screen.print("Promises are rounded up, p is rounded down.")


def _float(value: Number | None) -> float:
    return float(exact(value)) if value is not None else 0.0
