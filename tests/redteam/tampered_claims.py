"""Tampered claims: contradictions, downgrades and impossible counts in ``release.json``, all hashed anew."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from typing import Any

from tampering import TamperedFolder, Tampering

Change = Callable[[TamperedFolder], object]


def claim(folder: TamperedFolder, name: str) -> dict[str, Any]:
    """The first promise of a name."""
    return next(one for one in folder.claims if one["name"] == name)


def change_claim(name: str, **changes: Any) -> Change:
    """Say something else of a promise; ``None`` takes a key out."""

    def alter(folder: TamperedFolder) -> None:
        entry = claim(folder, name)
        for key, value in changes.items():
            if value is None:
                del entry[key]
            else:
                entry[key] = value

    return alter


def drop_claim(name: str) -> Change:
    """Take a promise out."""
    return lambda folder: folder.claims.remove(claim(folder, name))


def change_method(**changes: Any) -> Change:
    """Say something else of what the method was asked for."""
    return lambda folder: folder.asked.update(changes)


def change_manifest(**changes: Any) -> Change:
    """Say something else at the top of the manifest."""
    return lambda folder: folder.content.update(changes)


def change_form(**changes: Any) -> Change:
    """Say something else of the form."""
    return lambda folder: folder.content["form"].update(changes)


def change_column(name: str, **changes: Any) -> Change:
    """Say something else of a column, in every table."""

    def alter(folder: TamperedFolder) -> None:
        for table in folder.content["tables"]:
            for column in table["columns"]:
                if column["name"] == name:
                    column.update(changes)

    return alter


def together(*changes: Change) -> Change:
    """Several changes at once, as somebody careful makes them."""
    return lambda folder: [change(folder) for change in changes]


def rename_method(folder: TamperedFolder) -> None:
    folder.content["method"]["name"] = "mondriaan"


def claim_another_method(folder: TamperedFolder) -> None:
    folder.content["method"]["name"] = "anatomy"


def call_it_safe(folder: TamperedFolder) -> None:
    folder.content["algorithm_safe"] = True
    folder.content["warnings"] = [text for text in folder.content["warnings"] if "algorithm-safe" not in text]


def drop_reproducible(folder: TamperedFolder) -> None:
    folder.content["warnings"] = [text for text in folder.content["warnings"] if "Reproducible" not in text]


def repeat_warning(folder: TamperedFolder) -> None:
    folder.content["warnings"] += folder.content["warnings"][:1]


def lower_diversity(folder: TamperedFolder) -> None:
    """Ask for less in the promise alone, and record what the table then has."""
    claim(folder, "l-diversity").update(form="distinct", actual=2)


def edit_cells(name: str, change: Callable[[int, str], str]) -> Change:
    """Change every cell of a column of the first table, which is CSV."""

    def alter(folder: TamperedFolder) -> None:
        with folder.table.open(newline="", encoding="utf-8") as file:
            header, *rows = csv.reader(file)
        place = header.index(name)
        for number, row in enumerate(rows):
            row[place] = change(number, row[place])
        with folder.table.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows([header, *rows])

    return alter


def as_set(number: int, cell: str) -> str:
    return "{" + cell[1:-1] + "}" if cell[:1] == "[" else cell


def upside_down(number: int, cell: str) -> str:
    low, _, high = cell[1:-1].partition(", ")
    return f"[{high}, {low}]" if cell[:1] == "[" else cell


def copy_of_age(folder: TamperedFolder) -> None:
    """Publish a value inside every age interval as an insensitive column: the truth, once more."""
    with folder.table.open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    ends = [row[header.index("age")].strip("[]").split(", ") for row in rows]
    folder.add_column("years", "insensitive", lambda row: (int(ends[row][0]) + int(ends[row][-1])) // 2)


def member_of_sets(folder: TamperedFolder) -> None:
    """Write places as sets, and publish a member of every set as an insensitive column."""
    with folder.table.open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    place = header.index("zip")
    for row in rows:
        low, high = (int(end) for end in (row[place].strip("[]").split(", ") * 2)[:2])
        row[place] = "{" + ", ".join(str(code) for code in range(low, high + 1)) + "}" if high > low else str(low)
    with folder.table.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])
    change_column("zip", form="set")(folder)
    named = [row[place].strip("{}").split(", ")[0] for row in rows]
    folder.add_column("town", "insensitive", lambda row: named[row])


def take_out(*keys: str, of_claims: tuple[str, ...] = ()) -> Change:
    """A manifest that is cut down to look like an older one."""

    def alter(folder: TamperedFolder) -> None:
        folder.seal()
        for key in keys:
            folder.content.pop(key, None)
        for entry in folder.claims:
            for key in of_claims:
                entry.pop(key, None)
        (folder.place / "release.json").write_text(json.dumps(folder.content), "utf-8")

    return alter


def cut_down_to_layout_2(folder: TamperedFolder) -> None:
    """Exactly what an earlier version wrote: no data package, no hashes, no columns of promises."""
    (folder.place / "datapackage.json").unlink()
    take_out("layout", "files", "corruption_robust", of_claims=("columns",))(folder)


def cut_down_to_layout_1(folder: TamperedFolder) -> None:
    cut_down_to_layout_2(folder)
    del folder.content["form"]
    (folder.place / "release.json").write_text(json.dumps(folder.content), "utf-8")


def promise_k_of_one(folder: TamperedFolder) -> None:
    """A release that promises k = 1 and nothing else, consistently."""
    folder.content["guarantees"] = [claim(folder, "k-anonymity")]
    claim(folder, "k-anonymity").update(k=1, required=1)
    folder.content["method"]["parameters"] = {**folder.asked, "k": 1}
    for name in ("l", "diversity"):
        folder.asked.pop(name, None)


CONTRADICTIONS = [
    Tampering(
        "a method nobody offers",
        rename_method,
        said="Method `mondriaan` is not known",
        exit_code=6,
    ),
    Tampering("another method", claim_another_method, said="Parameter of anatomy `k` is not known"),
    Tampering("a parameter nobody knows", change_method(certified=True), said="Parameter of mondrian `certified`"),
    Tampering("a parameter of another type", change_method(cut=7), said="The 'cut' of mondrian"),
    Tampering("a parameter outside its range", change_method(t=7), said="The 't' parameter of mondrian must be"),
    Tampering("a parameter taken out", lambda folder: folder.asked.pop("k"), said="mondrian needs `k`"),
    Tampering("a parameter in place of another", change_method(sample=0.1), "perturbed", said="exactly one of"),
    Tampering(
        "something used that is never used", change_method(used={"blessing": 1}), said="never writes: `blessing`"
    ),
    Tampering("what was used is no mapping", change_method(used=[1]), said="is not a mapping"),
    Tampering(
        "k asked for and less promised", change_claim("k-anonymity", k=2, required=2), said="promises k-anonymity"
    ),
    Tampering(
        "k promised twice and one lowered",
        change_claim("k-anonymity", k=1, required=1),
        "cross-bucket",
        said="promises k-anonymity with k = 2",
    ),
    Tampering("l asked for and not promised", drop_claim("l-diversity"), said="it was taken out"),
    Tampering("k asked for and not promised", drop_claim("k-anonymity"), said="it was taken out"),
    Tampering("disjoint cells no longer promised", drop_claim("disjoint-cells"), "perturbed", said="it was taken out"),
    Tampering("one of two hidden promises taken out", drop_claim("owner-cover"), "dealt", said="it was taken out"),
    Tampering("a weaker kind of diversity", lower_diversity, said="promises l-diversity with l = 2, form = frequency"),
    Tampering(
        "a hidden promise weakened",
        change_claim("delta-probability", delta="9/10", required=0.9),
        "drawn",
        said="promises delta-probability with delta = 1/3",
    ),
    Tampering(
        "a hidden promise of something else", change_claim("owner-cover", of="value"), "dealt", said="owner-cover"
    ),
    Tampering("a promise per person in place of rows", change_claim("k-anonymity", per="age"), said="k-anonymity"),
    Tampering("a promise about another column", change_claim("l-diversity", column="age"), said="l-diversity"),
    Tampering("a promise about no column there is", change_claim("l-diversity", column="ill"), said="`ill`"),
    Tampering("a promise with a parameter nobody knows", change_claim("k-anonymity", seal="gold"), said="`seal`"),
    Tampering("a promise with a note", change_claim("k-anonymity", note="Approved."), said="a `note` that no check"),
    Tampering("a hidden promise with a note", change_claim("owner-cover", note="Approved."), "dealt", said="a `note`"),
    Tampering("a promise recorded as failing", change_claim("k-anonymity", holds=False), said="holds"),
    Tampering(
        "a hidden promise recorded as failing",
        change_claim("owner-cover", holds=False),
        "dealt",
        said="a release whose promise fails is not written",
    ),
    Tampering("a better figure", change_claim("k-anonymity", actual=50), said="the manifest says actual = 50"),
    Tampering("an impossible figure", change_claim("k-anonymity", actual=-3), said="the manifest says actual = -3"),
    Tampering(
        "a hidden figure beyond its limit",
        change_claim("delta-probability", actual=0.9),
        "drawn",
        said="recorded as holding with 0.9",
    ),
    Tampering("a promise without its figure", change_claim("k-anonymity", actual=None), said="does not say `actual`"),
    Tampering("a promise without its answer", change_claim("k-anonymity", holds=None), said="does not say `holds`"),
    Tampering("orders that are no mapping", change_claim("disjoint-cells", orders=[1]), "perturbed", said="malformed"),
    Tampering(
        "an invented warning",
        lambda folder: folder.content["warnings"].append("Approved by the DPO."),
        said="that this program never writes",
    ),
    Tampering("a warning reworded", change_manifest(warnings=["Not algorithm-safe: never mind."]), said="never writes"),
    Tampering("a warning twice", repeat_warning, said="says a warning twice"),
    Tampering("called safe, its warning taken out", call_it_safe, said="`algorithm_safe` is true; mondrian with these"),
    Tampering(
        "called robust", change_manifest(corruption_robust=True), "cross-bucket", said="`corruption_robust` is true"
    ),
    Tampering("a version that is none", change_manifest(undercover="certified"), said="no version of this program"),
    Tampering("a version before layouts had numbers", change_manifest(undercover="0.0.9"), said="one of the two"),
    Tampering(
        "a newer version",
        change_manifest(undercover="99.1"),
        said="newer than this one",
        exit_code=6,
        drops_datasheet=True,
    ),
    Tampering(
        "a newer version with a new key", change_manifest(undercover="99.1", blessed=True), said="newer than this one"
    ),
    Tampering("a version that is a number", change_manifest(undercover=1), said="undercover", exit_code=2),
    Tampering("another form", change_form(one_level=True), said="publishes one_level = False"),
    Tampering(
        "the order of the input, unsaid", change_method(keep_order=True), "drawn", said="publishes order = input"
    ),
    Tampering("a third table that is not asked for", change_method(joined=False), "cross-bucket", said="joined = None"),
    Tampering("intervals called values", change_column("age", form="value"), said="is said to be written as value"),
    Tampering("intervals called sets", change_column("age", form="set"), said="is said to be written as set"),
    Tampering("sets in a column of intervals", edit_cells("age", as_set), said="is said to be written as interval"),
    Tampering("intervals upside down", edit_cells("age", upside_down), said="is said to be written as interval"),
    Tampering(
        "a quasi-identifier called insensitive, promises edited along",
        together(
            change_column("age", role="insensitive", form="value"),
            change_claim("k-anonymity", columns=["sex", "zip"], actual=5),
            change_claim("l-diversity", columns=["sex", "zip", "disease"]),
        ),
        said="is said to be written as value",
    ),
    Tampering("the sensitive column called insensitive", change_column("disease", role="insensitive"), said="disease"),
    Tampering("a copy of a quasi-identifier", copy_of_age, said="`years` is published unchanged and follows `age`"),
    Tampering("a member of every set", member_of_sets, said="`town` is published unchanged and follows `zip`"),
]

SUPPRESSION = [
    Tampering(
        "rows suppressed by a method that suppresses none",
        change_manifest(suppressed_rows=7),
        said="mondrian leaves out none",
    ),
    Tampering(
        "more rows suppressed than allowed",
        change_manifest(suppressed_rows=200),
        "suppressing",
        said="leaves out at most",
    ),
    Tampering("suppressed rows below zero, said anew", change_manifest(suppressed_rows=-1), said="cannot be below 0"),
    Tampering(
        "other suppressed rows than there were",
        change_manifest(suppressed_rows=20),
        "suppressing",
        on_word=True,
        said="suppressed_rows: the holder's word",
        drops_datasheet=True,
    ),
]

DOWNGRADES = [
    Tampering("no layout", take_out("layout"), sealed=False, said="has an old layout, or was cut down"),
    Tampering(
        "neither layout nor hashes",
        take_out("layout", "files"),
        sealed=False,
        said="has an old layout, or was cut down",
    ),
    Tampering("cut down to layout 2", cut_down_to_layout_2, sealed=False, said="has an old layout, or was cut down"),
    Tampering("cut down to layout 1", cut_down_to_layout_1, sealed=False, said="has an old layout, or was cut down"),
    Tampering(
        "cut down to layout 2 and allowed",
        cut_down_to_layout_2,
        sealed=False,
        on_word=True,
        options=("--allow-old",),
        said="verified as far as an OLD RELEASE can be",
        drops_datasheet=True,
    ),
    Tampering("an earlier layout that had no number", change_manifest(layout=2), said="says layout 2"),
    Tampering(
        "no statement of robustness", take_out("corruption_robust"), sealed=False, said="lacks `corruption_robust`"
    ),
    Tampering("no warnings", take_out("warnings"), sealed=False, said="lacks `warnings`"),
]

NOTHING = [
    Tampering(
        "k = 1, consistently",
        together(promise_k_of_one, call_it_safe),
        exit_code=6,
        said="k-anonymity (k = 1) asks for nothing",
        drops_datasheet=True,
    ),
]

ON_WORD = [
    Tampering(
        "the warning about the seed taken out",
        drop_reproducible,
        on_word=True,
        said="whoever changes both leaves no trace",
        drops_datasheet=True,
    ),
    Tampering(
        "k lowered everywhere",
        together(change_method(k=2), change_claim("k-anonymity", k=2, required=2)),
        on_word=True,
        said="A signature tells",
        drops_datasheet=True,
    ),
]

CLAIMS: list[Tampering] = [*CONTRADICTIONS, *SUPPRESSION, *DOWNGRADES, *NOTHING, *ON_WORD]
