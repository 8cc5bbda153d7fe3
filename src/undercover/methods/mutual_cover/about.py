"""What is to be known of mutual cover beyond its class: words, stages, figures beside delta, output tables drawn.

Random output tables are heat maps: with what probability a value is released as which other (Li, Wang & He,
"Privacy-Preserving Data Publishing via Mutual Cover", Figure 2). Private: the tables are what the release rests on.
Shown are a few, one per column: of the tables that can still be read the one that is expected to change most people.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from undercover.methods.mutual_cover.tables import USUAL_GAP
from undercover.model.about import About, Drawing, Example, Holding, Reach, Stop, Sweep, Wanted
from undercover.model.figures import baseline, number, risk, rows
from undercover.model.form import Drawn
from undercover.model.kinds.orders import in_order
from undercover.model.release import Release
from undercover.model.run import Run
from undercover.model.view import AFTER, BROAD, INK, Picture
from undercover.steps.reach import dealt, groups_of, one_sensitive

MOST_TABLES = 4
MOST_VALUES = 25  # a side
_FRAME = "output_tables"
_CANDIDATES = 50  # groups of the right size that are looked at for their outputs
_WITH_FIGURES = 10  # values a side up to which fields carry their figure
_MISSING = "(missing)"
DONE = (
    "Similar rows were put into groups in which the sensitive values differ. For every group and quasi-identifier a "
    "table was computed that says with which probability each person releases which value: as near to the own value as "
    "can be, while nobody has more than a fixed share of any value. From these the published values were drawn. "
    "Sensitive values were not changed. The published table looks like an original one."
)
_UNCHANGED = {
    "resample": "Rows all of whose values came through were drawn again.",
    "paper": "In rows all of whose values came through some values were replaced.",
    "off": "Rows all of whose values came through were left as they are.",
}
_AFTERWARDS = {
    "resample": "they were drawn again",
    "paper": "values of theirs were replaced",
    "off": "they were left so",
}


def shown_tables(run: Run) -> list[dict[str, Any]]:
    """The tables to show; none where a run has none.

    Each has ``attribute``, ``group``, ``records`` of the group, ``originals`` (``value`` and ``records``), ``outputs``,
    ``probabilities`` (a list per original), ``kept`` (share of the records that are expected to keep their value) and
    ``largest_share`` (of one record in any value released).
    """
    frame = run.frames.get(_FRAME)
    if frame is None or not frame.num_rows:
        return []
    attribute, names = _coded(frame.column("attribute"))
    found = []
    for code, name in enumerate(names):
        rows = np.flatnonzero(attribute == code)
        own = frame.take(rows) if len(rows) < len(attribute) else frame
        table = _most_changed(name, own, _ordered(run, name)) if len(rows) else None
        if table is not None:
            found.append(table)
    wanted = {name: place for place, name in enumerate(run.schema.quasi_identifiers)}
    moved = sorted(found, key=lambda table: ((table["kept"] - 1) * table["records"], wanted.get(table["attribute"], 0)))
    return sorted(moved[:MOST_TABLES], key=lambda table: wanted.get(table["attribute"], 0))


def output_table_chart(table: Mapping[str, Any], name: str = "output-table") -> Picture:
    """The heat map of one table; takes an entry of :func:`shown_tables`."""
    import altair as alt

    lines = [f"{line['value']} ({number(line['records'])})" for line in table["originals"]]
    lines = [f"{text}{' ' * lines[:place].count(text)}" for place, text in enumerate(lines)]
    outputs = [str(value) for value in table["outputs"]]
    fields = [
        {"original": line, "output": output, "probability": chance, "text": risk(chance)}
        for line, chances in zip(lines, table["probabilities"], strict=True)
        for output, chance in zip(outputs, chances, strict=True)
        if chance > 0
    ]
    longest = max(map(len, outputs))
    few = max(len(lines), len(outputs)) <= _WITH_FIGURES
    field = 58 if few else 24
    base = alt.Chart(alt.NamedData("fields"), width=field * len(outputs), height=24 * len(lines))
    x = alt.X("output:N", sort=outputs, scale=alt.Scale(domain=outputs), title=f"released as {table['attribute']}",
              axis=alt.Axis(labelAngle=0 if longest * 7 < field else -45, labelLimit=110, grid=True))  # fmt: skip
    y = alt.Y("original:N", sort=lines, scale=alt.Scale(domain=lines), title=None,
              axis=alt.Axis(labelLimit=160, grid=True))  # fmt: skip
    depth = alt.Opacity("probability:Q", scale=alt.Scale(domain=[0, 1], range=[0.06, 0.85]), legend=None)
    layers = [base.mark_rect(fill=AFTER).encode(x=x, y=y, opacity=depth)]
    if few:
        words = base.mark_text(fontSize=11, color=INK).encode(x=x, y=y, text=alt.Text("text:N"))
        room = 340 - 7 * max(map(len, lines))  # beside the labels, on a phone
        layers.append(words if 36 * len(outputs) <= room else words.properties(name=BROAD))
    described = (
        f"Output table of {table['attribute']} in group {number(table['group'])}: {number(len(lines))} values of "
        f"{number(table['records'])} people, {risk(table['kept'])} of whom are expected to keep theirs; nobody has "
        f"more than {risk(table['largest_share'])} of a value that is released."
    )
    return Picture(name, {**alt.layer(*layers).to_dict(validate=False), "data": {"values": fields}}, described)


def _ordered(run: Run, name: str) -> Sequence[str]:
    """The values of a column in their order; none where they have none, or the original is not at hand."""
    domain = run.original[name].domain if run.original is not None and name in run.original.columns else None
    return () if domain is None else domain.labels if domain.kind != "categorical" else in_order(domain.labels) or ()


def _most_changed(name: str, frame: pa.Table, ordered: Sequence[str]) -> dict[str, Any] | None:
    """The table of one column that changes the most people, of those that can be read; most values next."""
    group = np.asarray(frame.column("group").to_numpy(), dtype=np.int64)
    original, originals = _coded(frame.column("original"))
    people = np.asarray(frame.column("records").to_numpy(), dtype=np.int64)
    order = np.argsort(group, kind="stable") if (np.diff(group) < 0).any() else np.arange(len(group))
    group, original, people = group[order], original[order], people[order]
    first = np.append(True, (np.diff(group) != 0) | (np.diff(original) != 0))  # of every original in its group
    values = np.bincount(group[first])
    output, outputs = _coded(frame.column("output"))
    chance = np.asarray(frame.column("probability").to_numpy(), dtype=np.float64)
    place = {value: code for code, value in enumerate(originals)}
    same = np.array([place.get(value, -1) for value in outputs], dtype=np.int64)
    moved = np.where(same[output[order]] == original, 0.0, people * chance[order])
    changed = np.bincount(group, weights=moved).round(9)  # people expected to release another value
    readable = np.flatnonzero((values > 1) & (values <= MOST_VALUES))
    ranked = readable[np.lexsort((readable, -values[readable], -changed[readable]))][:_CANDIDATES]
    starts, ends = np.searchsorted(group, ranked), np.searchsorted(group, ranked, side="right")
    for chosen, start, end in zip(ranked.tolist(), starts, ends, strict=True):
        lines = order[start:end]
        if len(np.unique(output[lines])) <= MOST_VALUES:
            values_of = [originals[code] for code in original[start:end]]
            released = [outputs[code] for code in output[lines]]
            cells = list(zip(values_of, released, chance[lines].tolist(), people[start:end].tolist(), strict=True))
            return {"attribute": name, "group": chosen, **_figures(cells, ordered)}
    return None


def _figures(cells: list[tuple[str, str, float, int]], order: Sequence[str] = ()) -> dict[str, Any]:
    """One table, from (original, output, probability, records) of its fields above 0; values in their order."""
    counts = {original: records for original, _, _, records in cells}
    originals = list(counts)
    outputs = list(dict.fromkeys(output for _, output, _, _ in cells))
    place = {value: rank for rank, value in enumerate(order or originals)}
    try:
        outputs.sort(key=float)
        originals.sort(key=float)
    except ValueError:
        for values in (originals, outputs):
            values.sort(key=lambda value: place.get(value, len(place)))
    chances = np.zeros((len(originals), len(outputs)))
    row = {value: i for i, value in enumerate(originals)}
    column = {value: j for j, value in enumerate(outputs)}
    for original, output, probability, _ in cells:
        chances[row[original], column[output]] = probability
    records = np.array([counts[value] for value in originals], dtype=np.float64)
    kept = sum(records[row[value]] * chances[row[value], column[value]] for value in originals if value in column)
    return {
        "records": int(records.sum()),
        "originals": [{"value": value or _MISSING, "records": counts[value]} for value in originals],
        "outputs": [value or _MISSING for value in outputs],
        "probabilities": chances.tolist(),
        "kept": float(kept / records.sum()),
        "largest_share": float((chances.max(axis=0) / (records @ chances)).max()),
    }


def _coded(column: pa.ChunkedArray) -> tuple[NDArray[np.int64], list[str]]:
    """Codes and labels of a column of text; missing is the empty text."""
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    chunks = encoded.unify_dictionaries().combine_chunks()
    whole = chunks.chunk(0) if isinstance(chunks, pa.ChunkedArray) else chunks
    return np.asarray(whole.indices.to_numpy(), dtype=np.int64), [value or "" for value in whole.dictionary.to_pylist()]


_BY_ITSELF = "each quasi-identifier (and each insensitive column) was permuted among their rows, by itself."
_PERMUTED = {
    "layers": f"In two layers. First, near rows were put into blocks by their quasi-identifiers, and {_BY_ITSELF} Then "
    "the sensitive values were permuted among the rows of groups in which they all differ.",
    "blocks": f"Near rows were put into blocks by their quasi-identifiers, and {_BY_ITSELF} Sensitive values stayed.",
    "groups": f"Near rows that differ in their sensitive values were put into groups, and {_BY_ITSELF}",
}
_KNOWN = {
    True: "Who was put together with whom was dealt at random.",
    False: "Who was put together with whom does not depend on which sensitive value is whose; but whoever knows the "
    "values of some people may learn from them about people of other groups.",
}


def did(release: Release) -> str:
    """What was done, in words."""
    variant = str(release.parameters.get("variant", "paper"))
    if variant in _PERMUTED:
        dealt = "" if variant == "blocks" else _KNOWN[release.corruption_robust]
        kept = "Every column has the values it had, each as often. The published table looks like an original one."
        return " ".join(filter(None, [_PERMUTED[variant], dealt, kept]))
    said = [DONE, _UNCHANGED.get(str(release.parameters.get("unchanged")), "")]
    if release.parameters.get("tables") == "uniform":
        said.append("The tables make every value of a group equally likely.")
    return " ".join(filter(None, said))


def stages(run: Run) -> list[tuple[str, str]]:
    """How the output tables came about, and what was drawn from them."""
    found = run.diagnostics
    made = found.get("tables_by_origin")
    if made is None:
        return _permuted_stages(run)
    return [
        (
            "Output tables",
            f"{number(sum(made.values()))} random output tables, one for each group and quasi-identifier: "
            f"{number(made['kept'])} need not change anything, {number(made['shared'])} follow from a formula, "
            f"{number(made['interior'] + made['highs'] + made.get('blocks', 0))} were optimised, "
            f"{number(made['uniform'])} are uniform.{_gap(found)}",
        ),
        (
            "Drawn",
            f"All values of {rows(found['rows_that_came_through'])} came through the first draw unchanged; "
            f"{_AFTERWARDS[str(run.release.parameters.get('unchanged', 'resample'))]}, and "
            f"{rows(found['rows_left_unchanged'])} still look as they did.{_changed(found)}",
        ),
    ]


def _gap(found: Mapping[str, Any]) -> str:
    """How far from the best a table is at most, where that is worth a word."""
    gap, large = found.get("largest_optimality_gap"), found["tables_by_origin"].get("blocks", 0)
    if gap is None or gap <= USUAL_GAP:
        return ""
    return (
        f" {number(large)} of these {'is' if large == 1 else 'are'} too large to be solved as a whole; no table moves "
        f"values by more than {risk(gap)} above the best, which is certified."
    )


def _changed(found: Mapping[str, Any]) -> str:
    """How much that is of the table."""
    if "share_of_cells_changed" not in found:
        return ""
    return (
        f" That is {risk(found['share_of_rows_that_came_through'])} of the rows. Of all quasi-identifier values "
        f"{baseline(found['share_of_cells_changed'])} differ from the original; the largest group has "
        f"{rows(found['largest_group'])}."
    )


def _permuted_stages(run: Run) -> list[tuple[str, str]]:
    """What was permuted among whom, and what came of it."""
    found = run.diagnostics
    if "cells_that_changed" not in found:
        return []
    changed = ", ".join(f"{name} {risk(share)}" for name, share in found["cells_that_changed"].items())
    stages = [
        (
            "Permuted columns",
            f"Among {number(found['blocks'])} blocks of at least {rows(found['smallest_block'])}. Share of rows that "
            f"show another value than their own: {changed}.",
        )
    ]
    if found["values_that_moved"]:
        stages.append(
            (
                "Permuted sensitive values",
                f"Among {number(found['groups'])} groups of at least {rows(found['smallest_group'])} of different "
                f"values; {risk(found['values_that_moved'])} of the values stand in another row.",
            )
        )
    return stages


def beside(run: Run) -> list[dict[str, Any]]:
    """The figures that stand beside δ in the holder's report, each with what it means."""
    found: list[dict[str, Any]] = []
    shares = run.diagnostics.get("effective_share")
    if shares:
        words = (
            f"The same share in the values as they were released, after unchanged rows were dealt with; above δ in "
            f"{shares['tables_above_delta']:.0%} of the tables."
        )
        found.append({"title": "Effective share", **_ends(shares), "words": words})
    near = run.diagnostics.get("reidentification_by_one_value")
    if near:
        words = "Somebody knows one value of a person, looks for it among the rows of the group and picks one."
        found.append({"title": "Found by one value, within the group", **_ends(near), "words": words})
        if "over_all_rows" in near:
            words = "The same among all published rows that show the value."
            found.append({"title": "Found by one value, over all rows", **_ends(near["over_all_rows"]), "words": words})
    return found


def _ends(figures: Mapping[str, Any]) -> dict[str, float]:
    return {"mean": float(figures["mean"]), "max": float(figures["max"])}


def candidates(wanted: Wanted) -> list[dict[str, Any]]:
    """Whoever is told the groups finds a row among l, so l hides the row as well, and delta what he is not told.

    Groups are dealt at random where values of others are known.
    """
    l, beside = wanted.l_and_k, {"robust": True} if wanted.policy.known_values else {}
    return [] if l is None else [{"delta": f"1/{wanted.k}", "l": l, **beside}, {"l": l, "variant": "groups", **beside}]


def reach(given: Mapping[str, Any], holding: Holding) -> list[Reach]:
    """Rows that cover each other are rows of the table, and l different values of them stand together."""
    least = Fraction(1, holding.rows)
    return [
        Reach("delta", f"The table has {rows(holding.rows)}: delta is at least 1/{holding.rows}.", least=least),
        *dealt(given, holding),
    ]


def outlook(method: Any, holding: Holding) -> list[str]:
    """All but one variant put values of one sensitive column together."""
    return [] if method.l is None else [*one_sensitive(holding.schema), *groups_of(method.l, holding)]


ABOUT = About(
    unstated_form=lambda parameters: Drawn(order="input" if parameters.get("keep_order") else "shuffled"),
    title="Mutual cover",
    idea="Cells are ordinary values, permuted or drawn anew inside groups, so that people cover each other.",
    when="Take it where recipients need a table of its old shape, without ranges, and single rows need not be true.",
    did=did,
    stages=stages,
    beside=beside,
    pictures=(
        Drawing(
            "output_tables",
            shown_tables,
            lambda tables: [output_table_chart(table, f"output-table-{place}") for place, table in enumerate(tables)],
        ),
    ),
    attacks=("informed",),
    sweeps=(
        Sweep("Mutual cover", "l", (2, 4, 8), {"delta": "1/5"}),
        Sweep("Mutual cover, the paper's", "delta", ("1/2", "1/5", "1/10"), {"l": 4, "k": 10, "variant": "paper"}),
    ),
    candidates=candidates,
    reach=reach,
    outlook=outlook,
    tour=(Stop("mutual-cover-5-l10", "Mutual cover δ=1/5, l=10", {"delta": "1/5", "l": 10}, place=1, ahead=1),),
    examples=(
        Example({"delta": "1/2", "l": 2}, "safe"),
        Example({"delta": "1/2", "l": 2, "robust": True}, "safe"),
        Example({"delta": "1/2", "variant": "blocks"}, "safe"),
        Example({"l": 2, "variant": "groups"}, "safe"),
        Example({"delta": "1/2", "l": 2, "variant": "paper"}, "unsafe"),
        Example({"delta": "1/2", "l": 100}, "unreachable"),
    ),
)
