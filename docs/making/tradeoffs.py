"""What methods cost and what they protect, measured once: the figures and the picture of ``docs/guide/choosing.md``.

``python docs/making/tradeoffs.py`` measures again and prints the table for the page; a test holds the page to what is
stored. The picture is drawn from the same file whenever the manual is built.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

import undercover as uc
from undercover.model.figures import risk
from undercover.pages.compare import frontier_charts, series_looks
from undercover.pages.svg import drawings

STORED = Path(__file__).with_name("tradeoffs.json")
ROWS, QUASI_IDENTIFIERS = 20_000, ["age", "sex", "education", "marital_status", "hours"]
KEPT = ("title", "method", "series", "verdict", "algorithm_safe")
SHOWN = (
    "Mondrian, k=5", "Mondrian, k=10", "Mondrian, k=5, l=4", "Mondrian t-close, k=5, t=0.4", "Incognito, k=10",
    "Anatomy, l=8", "Streamliner wrap, l=8", "Streamliner classes, l=4", "Streamliner classes, l=8",
    "Mutual cover, l=8", "Cross-bucket, k=5, l=4", "Cross-bucket, k=5, l=8", "Perturbed generalization, p=0.3",
)  # fmt: skip
"""The releases of the table; the picture has all of them."""
MARK = '<svg viewBox="-1.3 -1.3 2.6 2.6" aria-hidden="true"><path d="{}" style="fill:{}"/></svg>'


def measure() -> dict[str, Any]:
    """Compare every method on the built-in census, which nobody lives in; two minutes."""
    people = uc.datasets.census(ROWS, seed=1).select([*QUASI_IDENTIFIERS, "income"])
    schema = uc.datasets.census_schema(QUASI_IDENTIFIERS)
    with tempfile.TemporaryDirectory() as folder:
        found = uc.compare(people, schema, Path(folder, "compared"))
    kept = [{**{key: one[key] for key in KEPT}, "figures": figures(one)} for one in found["releases"]]
    return {"releases": kept, "frontiers": found["frontiers"][:1], "recommended": found["recommended"]}


def figures(release: dict[str, Any]) -> list[float]:
    """What the columns of the table show: three risks, each of the worst person, and three errors."""
    privacy, utility = release["privacy"], release["utility"]
    risks = [privacy[key]["worst"] for key in ("identity", "attribute", "corruption")]
    return [*risks, utility["pairwise"]["mean"], utility["count"]["mean"], utility["classification"]["error"]]


def table(found: dict[str, Any]) -> list[str]:
    """The lines of the page's table, each figure rounded to the safe side."""
    lines = [
        "| release | verdict | knows the algorithm | finds the row | learns the value | all others known "
        "| pairs | COUNT | learning |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    by_title = {release["title"]: release for release in found["releases"]}
    for title in SHOWN:
        one = by_title[title]
        safe = "no more" if one["algorithm_safe"] else "**more**"
        lines.append(
            f"| {title} | {one['verdict']} | {safe} | {' | '.join(risk(figure) for figure in one['figures'])} |"
        )
    return lines


def frontier() -> str:
    """The picture: what is learnt of people against what is lost of the table, every release a mark, with its key."""
    stored = json.loads(STORED.read_text("utf-8"))
    picture = frontier_charts(stored)[0]
    known = series_looks(stored["releases"])
    key = "".join(f"<li>{MARK.format(look.mark, look.color)}{series}</li>" for series, look in known.items())
    return f'{drawings(picture, "frontier")}<ul class="key">{key}</ul><figcaption>{picture.sentence}</figcaption>'


if __name__ == "__main__":
    measured = measure()
    STORED.write_text(json.dumps(measured, separators=(",", ":")) + "\n", encoding="utf-8")
    print("\n".join(table(measured)))
