"""Sections of the report: the riskiest rows that remain, what was done stage by stage, and how large the classes are.

The riskiest rows come with what an attacker knows of them and are for the holder's eyes only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercover.forms import read
from undercover.forms.classes import Classes
from undercover.model.about import about_of
from undercover.model.figures import counted, number, rows, span
from undercover.model.run import Run
from undercover.model.view import AFTER, FigureTable, Part, Picture, Said, Verdict, View, listed, say, table
from undercover.pages.words import done_words

_NUMBERED = (
    "Rows are numbered from 0 as they stand in the input. Found is the probability of finding the person's row, the "
    "columns behind it that of the true value. Sensitive values and identifiers are not shown here."
)
_BINS = 24
_WIDTH = 800


def riskiest(run: Run, attacks: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """For every attack that names rows: the rows with their quasi-identifiers, worst first.

    Sensitive values and identifiers are left out: the number of the row is enough for the holder to look them up, and
    a page is passed on more easily than a table.
    """
    found = []
    for attack in attacks:
        rows = [{**_flat(worst), "known": _known(run, int(worst["row"]))} for worst in attack.get("worst_rows", ())]
        if rows:
            tied = int(attack.get("worst_tied", 0))
            sampled = {"sampled": True} if "of" in attack else {}
            found.append(
                {"attack": str(attack["attack"]), "columns": _columns(rows), "rows": rows, "tied": tied, **sampled}
            )
    return found


def riskiest_view(found: Sequence[Mapping[str, Any]], attackers: Mapping[str, str] | None = None) -> View:
    """The rows of :func:`riskiest`, a table for each attack; ``attackers`` says in words who made which."""
    title = "The riskiest rows that remain"
    if not found:
        return View("riskiest", title, ("No attack named any.",), private=True)
    parts: list[Part] = []
    for place, one in enumerate(found):
        parts.append(_table(one, place, (attackers or {}).get(one["attack"], f"the attacker of {one['attack']}")))
        if one.get("tied"):
            text = "{count} more rows are not shown, of which he learns as much as of the last of these."
            parts.append(say(text, one["tied"]))
        if one.get("sampled"):
            parts.append("Of the people who were looked for, a sample and those whose own class gives away most.")
    return View("riskiest", title, (*parts, _NUMBERED), private=True)


def earlier_view(noted: Mapping[str, Any]) -> View:
    """Earlier releases of the same people, as the ledger names them, and what is learnt by having them as well."""
    before = [
        (
            f"{entry['number'] or 'recipe'}, {entry['method']}",
            entry["made"][:10],
            entry["shared"],
            listed(entry["known_by"]),
        )
        for entry in noted["releases"]
    ]
    parts: list[Part] = []
    if before:
        parts.append(table(("release", "made", "rows of its people", "known by"), "plain plain count plain", before))
    learnt = [
        (
            f"{listed([str(number) for number in found['in']])}: `{found['sensitive']}`",
            found["people"],
            *(found["together"][key] for key in ("k", "l", "highest", "certain")),
            found["newly_certain"],
        )
        for found in noted["together"]
    ]
    if learnt:
        columns = (
            "people in release", "so many", "who fit the same rows, fewest", "values left, fewest", "surest of a value",
            "certain", "by no release alone",
        )  # fmt: skip
        title = "What is learnt of them by having all"
        parts.append(table(columns, "plain count count count risk count count", learnt, title))
    elif before and not noted["does_not_hold"]:
        parts.append("They were not attacked together: the promise counts them already, or they hold the same rows.")
    parts += [Said("Does not hold: {}", (problem,)) for problem in noted["does_not_hold"]]
    # Runs that were saved by earlier versions have neither.
    exceeded, undecided = noted.get("exceeded", ()), noted.get("not_decided", ())
    parts += [Said("Exceeded by the attack: {}", (sentence,)) for sentence in exceeded]
    parts += [Said("Not decided: {}", (sentence,)) for sentence in undecided]
    colour: Verdict
    if noted["does_not_hold"] or exceeded:
        colour, said = "bad", "not everything that is promised holds together"
    elif undecided:
        colour, said = "care", "not decided whether everything that is promised holds together"
    else:
        colour, said = "good", "what is promised holds together"
    return View("earlier", "Earlier releases of the same people", tuple(parts), colour, said, private=True)


def _table(found: Mapping[str, Any], place: int, who: str) -> FigureTable:
    rows = found["rows"]
    columns = ("input row", "matches", "found", *(f"`{name}`" if name else "value" for name in found["columns"]))
    senses = "count count risk" + " risk" * len(found["columns"]) + " plain"
    lines = [
        (
            row["row"],
            row["matches"],
            row["identity"],
            *(row["attribute"][name] for name in found["columns"]),
            ", ".join(f"`{name}` {value or 'missing'}" for name, value in row["known"].items()),
        )
        for row in rows
    ]
    title = f"The {f'{len(rows)} rows' if len(rows) > 1 else 'row'} {who} learns most about"
    return table((*columns, "what he knows"), senses, lines, title, private=True, detail=2 if place else 0)


def _flat(worst: Mapping[str, Any]) -> dict[str, Any]:
    """The figures of a row; what is not measured of it is ``None``."""
    attribute = worst.get("attribute")
    named = attribute if isinstance(attribute, Mapping) else {} if attribute is None else {"": attribute}
    return {
        "row": int(worst["row"]),
        "matches": worst.get("matches"),
        "identity": worst.get("identity"),
        "attribute": {str(name): value for name, value in named.items()},
    }


def _columns(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row["attribute"]))


def _known(run: Run, row: int) -> dict[str, str]:
    original = run.original
    if original is None:
        return {}
    place = int(original.places(np.array(row)))
    if place >= original.n_rows or original.numbers(np.array(place)) != row:
        return {}
    columns = {name: original[name] for name in original.schema.quasi_identifiers}
    return {name: column.domain.labels[int(column.codes[place])] for name, column in columns.items()}


def stages(
    run: Run,
    counts: Mapping[str, int],
    classes: Classes,
    verdict: str,
    attacks: Sequence[Mapping[str, Any]],
    measures: Mapping[str, Any] | None,
) -> list[dict[str, Any]]:
    """A title and a text for every stage, and the seconds it took where they were taken."""
    found = [_stage("Read", _read(run, counts), run, "read"), *_people(run)]
    if counts["dropped"]:
        left = f"{rows(counts['dropped'])} had a missing value in a quasi-identifier or sensitive column and"
        found.append(_stage("Left out", f'{left} {_were(counts["dropped"])} left out, as missing = "drop" asks.'))
    if run.original is not None:
        found.append(_stage("Encoded", _encoded(run), run, "encode"))
    about = about_of(run.release.method)
    grouped = " ".join([done_words(run.release), _grouped(run, counts, classes)])
    found.append(_stage("Grouped", f"{grouped}{_sizes(run)}", run, "anonymize"))
    found += [_stage(title, text) for title, text in about.stages(run)]
    if counts["suppressed"]:
        text = f"{rows(counts['suppressed'])} fitted into no class and {_are(counts['suppressed'])} not published."
        found.append(_stage("Suppressed", text))
    tables = " and ".join(f"{table.name} ({rows(table.rows)})" for table in run.release.tables)
    order = f"The order of the rows {read(run.release).order}."
    found.append(_stage("Published", f"{tables}. {order}"))
    found.append(_stage("Verified", verdict, run, "verify"))
    if attacks:
        names = dict.fromkeys(str(attack["attack"]) for attack in attacks)
        everybody = rows(max(int(attack.get("of", attack.get("targets", 0))) for attack in attacks))
        attackers = ", ".join(names)
        some = [attack for attack in attacks if "of" in attack]
        drawn = "".join(f" By {one['attack']} {rows(one['targets'])} of these, drawn at random." for one in some)
        found.append(
            _stage(
                "Attacked",
                f"By everybody who has the original's quasi-identifiers ({attackers}): {everybody}, one by one.{drawn}",
            )
        )
    if measures is not None:
        found.append(_stage("Measured", _measured(measures)))
    return found


def _stage(title: str, text: str, run: Run | None = None, timing: str = "") -> dict[str, Any]:
    seconds = None if run is None else run.timings.get(timing)
    return {"title": title, "text": text, "seconds": None if seconds is None else float(seconds)}


def _read(run: Run, counts: Mapping[str, int]) -> str:
    source = run.source.get("path")
    origin = f" from {PurePath(str(source)).name}" if source else ""
    return f"{rows(counts['read'])} {_were(counts['read'])} read{origin}."


def _people(run: Run) -> list[dict[str, Any]]:
    """Whose rows they are, where somebody said so."""
    original, unit = run.original, run.schema.unit_column
    if run.schema.says_each_row:
        return [_stage("People", "The holder says that each row is a person of its own.")]
    if original is None or unit is None:
        return []
    if original.set_aside:
        one = f"Of every `{unit}` one row was kept, the {run.schema.one_row_per} one"
        return [
            _stage("One row of each", f"{one}; {rows(original.set_aside)} {_are(original.set_aside)} not published.")
        ]
    people = original.n_rows if original.units is None else len(np.unique(original.units))
    return [_stage("People", f"By `{unit}` they are of {number(people)} different people or other units.")]


def _encoded(run: Run) -> str:
    """How many different values the published columns have."""
    assert run.original is not None
    columns = run.original.columns
    known = [f"{name} {number(columns[name].domain.size)}" for name in run.schema.published if name in columns]
    return f"Different values: {', '.join(known)}."


def _grouped(run: Run, counts: Mapping[str, int], classes: Classes) -> str:
    reading = read(run.release)
    if reading.charged is not None and reading.charged is not classes:
        return (
            f"This gave {counted(counts['classes'], 'class', 'classes')} of rows that are written alike, and across "
            f"them {counted(classes.count, 'bucket')}."
        )
    unit = reading.unit
    return f"This gave {counted(counts['classes'], unit, 'classes' if unit == 'class' else '')}."


def _sizes(run: Run) -> str:
    sizes = run.groups.sizes
    if len(sizes) < 2:
        return ""
    low, high = int(sizes.min()), int(sizes.max())
    return f" The groups that were made have {f'{number(low)} to ' if high > low else ''}{rows(high)}."


def _measured(measures: Mapping[str, Any]) -> str:
    columns = len(measures.get("distributions", ()))
    pairs = len(measures.get("associations", ()))
    found = [counted(columns, "distribution"), counted(pairs, "pair")]
    for key, what in (("query_errors", "random COUNT queries"), ("sum_errors", "random sums")):
        queries = sum(int(result["queries"]) for result in measures.get(key, ()))
        found += [f"{number(queries)} {what}"] if queries else []
    *first, last = ("loss of detail", *found)
    return f"Against the original: {', '.join(first)}{', and' if len(found) > 2 else ' and'} {last}."


def _were(count: int) -> str:
    return "was" if count == 1 else "were"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def class_sizes(classes: Classes) -> dict[str, Any]:
    """Figures and histogram of the classes (of a release in two tables: its buckets)."""
    return sizes_of(classes.sizes, "class" if classes.boxes is None else "bucket")


def sizes_of(sizes: NDArray[np.int64], unit: str) -> dict[str, Any]:
    """The same of any sizes."""
    figures: dict[str, Any] = {"unit": unit, "count": len(sizes)}
    if not len(sizes):
        return {**figures, "min": None, "median": None, "mean": None, "max": None, "histogram": []}
    return {
        **figures,
        "min": int(sizes.min()),
        "median": float(np.median(sizes)),
        "mean": float(sizes.mean()),
        "max": int(sizes.max()),
        "histogram": histogram(sizes),
    }


def sizes_view(sizes: Mapping[str, Any]) -> View:
    """What :func:`sizes_of` found, as a section."""
    several = "classes" if sizes["unit"] == "class" else f"{sizes['unit']}s"
    parts: tuple[Part, ...] = ("There are none.",)
    if sizes["histogram"]:
        rows = [(span(bin_), bin_["classes"], bin_["rows"]) for bin_ in sizes["histogram"]]
        middle = (sizes[key] for key in ("min", "median", "mean", "max"))
        several_rows = "row." if sizes["max"] == 1 else "rows."
        parts = (
            say("Smallest {count}, median {count}, mean {count}, largest {count} " + several_rows, *middle),
            partial(class_size_chart, sizes),
            table(("size", several, "rows"), "plain count count", rows, "The figures", detail=2),
        )
    return View("class-sizes", f"How large the {several} are", parts, private=True)


def class_size_chart(sizes: Mapping[str, Any]) -> Picture:
    """How many rows live in classes of which size; takes ``summary["class_sizes"]``."""
    import altair as alt

    rows = [{"size": span(bin_), "rows": bin_["rows"], "classes": bin_["classes"]} for bin_ in sizes["histogram"]]
    order = [row["size"] for row in rows]
    unit = sizes["unit"]
    axis = alt.Axis(labelAngle=0 if sum(map(len, order)) < 90 else -45)  # upright where there is room
    chart = (
        alt.Chart(alt.NamedData("rows"), width=_WIDTH, height=180)
        .mark_bar(color=AFTER)
        .encode(
            x=alt.X("size:O", sort=order, title=f"size of the {unit} (rows)", axis=axis),
            y=alt.Y("rows:Q", title="rows published"),
        )
    )
    described = f"Rows by size of their {unit}: from {number(sizes['min'])} to {counted(sizes['max'], 'row')}" + (
        f", half of them of at most {number(sizes['median'])}."
    )
    return Picture.of("class-sizes", chart, rows, described)


def histogram(sizes: NDArray[np.int64]) -> list[dict[str, Any]]:
    """Bins of equal width from the smallest size on; the last one is open where a few sizes lie far out."""
    low, high = int(sizes.min()), int(sizes.max())
    usual = int(np.quantile(sizes, 0.99))
    width = _nice(max(1, -(-(usual - low + 1) // _BINS)))
    count = min(_BINS, (high - low) // width + 1)
    place = np.minimum((sizes - low) // width, count)
    rows = np.bincount(place, sizes, minlength=count + 1)
    classes = np.bincount(place, minlength=count + 1)
    bins = [
        {
            "from": low + position * width,
            "to": low + (position + 1) * width - 1 if position < count else None,
            "classes": int(classes[position]),
            "rows": int(rows[position]),
        }
        for position in range(count + 1)
    ]
    return bins if classes[count] else bins[:count]


def _nice(width: int) -> int:
    """The next width of the form 1, 2 or 5 times a power of ten."""
    power = 1
    while True:
        for step in (1, 2, 5):
            if step * power >= width:
                return step * power
        power *= 10
