"""What is to be known of perturbed generalization beyond its class."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from undercover.errors import DataError, ParameterError, listed
from undercover.exact import exact
from undercover.guarantees.breach.bounds import growth_bound, guarantee_grid, largest_p, rho2_bound
from undercover.guarantees.breach.map import KS, PS, TITLES
from undercover.methods.perturbed_generalization.domain import declared_domain
from undercover.model.about import About, Example, Grid, Holding, Reach, Stop, Sweep, Wanted, asked
from undercover.model.figures import counted, number, rows
from undercover.model.finding import shown
from undercover.model.form import Perturbed
from undercover.model.release import Release
from undercover.model.run import Run
from undercover.model.schema import Schema
from undercover.steps.reach import one_sensitive

DONE = (
    "The quasi-identifiers were generalised into cells that do not overlap. Of every cell one row was drawn at random "
    "and is published, with the number of people in the cell in column G. Its sensitive value was kept with "
    "probability p and otherwise replaced by one drawn uniformly from the declared domain."
)
_LABELS = {
    "free": "The cells follow from quasi-identifiers and public weights alone.",
    "driven": "Sensitive values were perturbed first, and the cells were then cut so that they differ in the perturbed "
    "values, as the paper does it. Where the cuts lie therefore tells something about them, and the promise counts one "
    "person per cell only.",
}


def did(release: Release) -> str:
    """What was done, in words.

    >>> did(Release("perturbed-generalization", {"labels": "free"}, (), True)).endswith("public weights alone.")
    True
    """
    return " ".join(filter(None, [DONE, _LABELS.get(str(release.parameters.get("labels")))]))


def main(release: Release) -> Mapping[str, Any]:
    """k, and the p that was used, whatever it was asked by."""
    keep = getattr(release.form, "keep", None)
    return {**asked("k", "p")(release), **({} if keep is None else {"p": shown(float(Fraction(keep)), "at least")})}


def stages(run: Run) -> list[tuple[str, str]]:
    """How values were perturbed."""
    p = run.diagnostics.get("p")
    return [] if p is None else [("Perturbed", f"Every published sensitive value was kept with probability {p:g}.")]


def candidates(wanted: Wanted) -> list[dict[str, Any]]:
    """Cells of k people hide the row; of its value so much is kept as the policy allows, tried from much to little."""
    return [{"k": wanted.k, "p": p} for p in ("9/10", "3/5", "3/10")] if len(wanted.shares) == 1 else []


def fits(schema: Schema) -> list[str]:
    """One sensitive column with a domain that everybody may know, and nothing that tells whose row was drawn."""
    problems = one_sensitive(schema)
    if not problems and declared_domain(schema.column(schema.sensitive[0])) is None:
        (name,) = schema.sensitive
        problems.append(
            f"It draws values from a declared public domain. Say which values `{name}` can have (its domain), or give "
            "it a hierarchy of a file, whose leaves they are."
        )
    if schema.insensitive:
        problems.append(f"It cannot publish {listed(schema.insensitive)} unchanged: whoever knows them finds the row.")
    return problems


def reach(given: Mapping[str, Any], holding: Holding) -> list[Reach]:
    """Cells are of rows, and nobody can spread his belief over more values than there are."""
    most, size = holding.rows, _domain(holding.schema)
    found = [
        Reach("k", f"The table has {rows(most)}: k is at most {number(most)}.", most=Fraction(most)),
        Reach("sample", f"The table has {rows(most)}: sample is at least 1/{most}.", least=Fraction(1, most)),
    ]
    if size:
        why = f"The declared domain has {counted(size, 'value')}: skew is at least 1/{size}, of whoever knows nothing."
        found.append(Reach("skew", why, least=Fraction(1, size)))
    return found


def outlook(method: Any, holding: Holding) -> list[str | Grid]:
    """How many rows are published, what p is used and promises in cells of k people, and the same over k and p."""
    size = _domain(holding.schema)
    k = method.least if method.labels == "free" else 1
    told: list[str | Grid] = [
        f"One row of every cell is published: at most {number(holding.rows // method.least)} rows."
    ]
    if not size or method.earlier is not None:
        return told
    asked_of: dict[str, Any] = {"domain": size, "skew": method.skew, "bound": method.bound}
    try:
        p = method.p
        if p is None:
            p = largest_p(k=k, rho=method.rho, growth=method.growth, **asked_of)
            told.append(
                f"In cells of {k} a value may be kept with probability {shown(p, 'at least')}; larger cells allow more."
            )
        before = None if method.rho is None else method.rho[0]
        growth = shown(growth_bound(p=p, k=k, **asked_of), "at most")
        told.append(
            f"Nobody becomes surer of anything about anybody by more than {growth}, whatever he knows of others."
        )
        if before is not None:
            after = shown(rho2_bound(rho1=before, p=p, k=k, **asked_of), "at most")
            told.append(f"Who was at most {float(exact(before)):g} sure before is at most {after} sure afterwards.")
        return [*told, _map(k, float(exact(p)), before, asked_of)]
    except ParameterError as error:  # a skew that the domain has no room for
        return [*told, *error.problems]


def _map(k: int, p: float, before: Any, asked_of: Mapping[str, Any]) -> Grid:
    measure = "growth" if before is None else "rho2"
    ks, ps = sorted({*KS, k}), sorted({*(float(exact(value)) for value in PS), p})
    fields = guarantee_grid(ks=ks, ps=ps, rho1=before or 0, **asked_of)
    figures = {one: [entry[measure] for entry in fields if entry["p"] == one] for one in ps}
    lines = tuple((f"{one:.3g}", tuple((value, shown(value, "at most")) for value in figures[one])) for one in ps)
    down, across = "p: probability of keeping a value", "k: people in a cell"
    return Grid(TITLES[measure], down, across, lines, tuple(map(str, ks)), (f"{p:.3g}", str(k)))


def _domain(schema: Schema) -> int:
    return len(declared_domain(schema.column(schema.sensitive[0])) or ()) if len(schema.sensitive) == 1 else 0


def _unstated_form(parameters: Mapping[str, Any]) -> Perturbed:
    """The form of releases that were written before manifests stated one."""
    used = parameters.get("used", {})
    if "p" not in used or "domain" not in used:
        raise DataError("The manifest does not say how values were perturbed, so they cannot be read.")
    return Perturbed(keep=used["p"], domain=tuple(str(value) for value in used["domain"]))


ABOUT = About(
    unstated_form=_unstated_form,
    title="Perturbed generalization",
    idea="One person of each cell is published; the sensitive value is kept with probability p, else drawn anew.",
    when="Take it where attackers may know the values of others, and recipients count and can correct for noise.",
    did=did,
    main=main,
    stages=stages,
    sweeps=(Sweep("Perturbed generalization", "p", (0.15, 0.3, 0.45), {"k": 6}),),
    candidates=candidates,
    fits=fits,
    reach=reach,
    outlook=outlook,
    tour=(Stop("perturbed-k6-rho", "Perturbed, 0.2 to 0.45", {"k": 6, "rho": (0.2, 0.45), "skew": 0.1}, ahead=1),),
    examples=(
        Example({"k": 2, "p": "3/5"}, "safe"),
        Example({"k": 2, "p": "1/4", "recoding": "specialize"}, "safe"),
        Example({"k": 2, "p": "1/4", "recoding": "incognito"}, "safe"),
        Example({"k": 100, "p": "1/2"}, "unreachable"),
    ),
)
