"""What perturbed generalization promises over k and p, as a heat map.

Every field shows its figure, rounded up, so that the picture is a table as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from undercover.exact import Number, exact
from undercover.forms import read
from undercover.guarantees.breach.bounds import Bound, guarantee_grid
from undercover.model.finding import shown
from undercover.model.release import Release
from undercover.model.view import BEFORE, Picture

KS = (2, 4, 6, 8, 10)
PS: tuple[Number, ...] = (0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45)
_FIELD = 52
TITLES = {"rho2": "ρ2: highest confidence afterwards", "growth": "Δ: largest rise of confidence"}


def guarantee_facts(release: Release) -> dict[str, Any] | None:
    """What other k and p would have promised, and where a release stands; ``None`` of any other method."""
    reading = read(release)
    noise = reading.channel
    if noise is None:
        return None
    given = release.parameters
    bound: Bound = "paper" if given.get("bound") == "paper" else "tight"
    skew, p = float(exact(given.get("skew", 1))), float(noise.p)
    smallest = 1 if reading.people is None or not len(reading.people) else int(reading.people.min())
    k = 1 if given.get("labels") == "driven" else smallest
    rho1 = float(exact(given["rho"][0])) if given.get("rho") else None
    known = guarantee_grid(
        ks=sorted({*KS, k}), ps=sorted({*PS, p}), rho1=rho1 or 0, domain=noise.size, skew=skew, bound=bound
    )
    grid = [{name: value for name, value in entry.items() if rho1 is not None or name != "rho2"} for entry in known]
    return {"k": k, "p": p, "domain": noise.size, "skew": skew, "bound": bound, "rho1": rho1, "grid": grid}


def guarantee_chart(
    grid: Sequence[Mapping[str, Any]], measure: str, *, chosen: tuple[int, float] | None = None
) -> Picture:
    """The heat map of ``rho2`` or ``growth``; takes what ``guarantee_grid`` gives.

    ``chosen`` is the k and the p of a release, which get a frame.
    """
    import altair as alt

    fields = [
        {"k": entry["k"], "p": f"{entry['p']:g}", "value": entry[measure], "text": _up(entry[measure])}
        for entry in grid
    ]
    ps, ks = list(dict.fromkeys(field["p"] for field in fields)), list(dict.fromkeys(field["k"] for field in fields))
    base = alt.Chart(alt.NamedData("fields"), width=_FIELD * len(ps), height=_FIELD * len(ks) * 0.6)
    x = alt.X("p:O", sort=ps, title="p: probability of keeping a value", axis=alt.Axis(labelAngle=0))
    y = alt.Y("k:O", sort=ks, title="k: people in a cell")
    scale = alt.Scale(domain=[0, 1], range=["#f3f6fa", "#0072b2"])
    squares = base.mark_rect().encode(x=x, y=y, color=alt.Color("value:Q", scale=scale, legend=None))
    light = alt.condition("datum.value > 0.75", alt.value("#ffffff"), alt.value("#1a1a1a"))
    words = base.mark_text(fontSize=11).encode(x=x, y=y, text=alt.Text("text:N"), color=light)
    layers = [squares, words]
    values = [field["value"] for field in fields]
    description = f"{TITLES[measure]}, from {_up(min(values))} to {_up(max(values))}."
    if chosen is not None:
        k, p = chosen[0], f"{chosen[1]:g}"
        (here,) = (field["text"] for field in fields if field["k"] == k and field["p"] == p)
        description = f"{description[:-1]}; here {here}, with k = {k} and p = {p}."
        framed = base.transform_filter((alt.datum.k == k) & (alt.datum.p == p))
        layers.append(framed.mark_rect(filled=False, stroke=BEFORE, strokeWidth=3).encode(x=x, y=y))
    spec = alt.layer(*layers).to_dict(validate=False)
    return Picture(f"map-{measure}", {**spec, "data": {"values": fields}}, description)


def _up(value: float) -> str:
    return shown(value, "at most")
