"""Cells that hold an identifier or a swallowed row are refused before anything is written; honest tables are not."""

import gzip
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import undercover as uc
from undercover.errors import DataError
from undercover.io.words import Words
from undercover.scanning import secrets as scanning

SCHEMA = uc.Schema(identifiers="name", quasi_identifiers="age", sensitive="disease", insensitive="note")
NAMES = ["Ada Lovelace", "Bo", "Cy O'Neil", "Di Prima", "Éa Müller", "100234"]


def table(notes: Sequence[str | None], names: Sequence[object] = NAMES) -> pa.Table:
    """As many people as there are names, one note each; the last note is everybody's who is left."""
    rows = len(names)
    filled = [*notes, *[notes[-1]] * rows][:rows]
    return pa.table({"name": names, "age": [30] * rows, "disease": ["flu", "cold"] * (rows // 2), "note": filled})


def publish(data: pa.Table, schema: uc.Schema = SCHEMA) -> uc.Run:
    return uc.publish(data, schema, uc.Mondrian(k=2), policy="none")


def plainly(text: str, value: str) -> bool:
    """Whether a text holds a value and something else: words by Python's own letters and digits."""

    def words(of: str) -> list[str]:
        folded = unicodedata.normalize("NFKC", of.lower()).lower()
        return "".join(c if unicodedata.category(c)[0] in "LMN" else " " for c in folded).split()

    number = re.fullmatch(r"[+-]?[0-9]+([.,][0-9]+)?", value.strip()) and len(value.strip()) < 6
    mine, wanted = words(text), words(value)[:12]
    if number or len(value.strip()) < 2 or not wanted or len(mine) == len(wanted):
        return False
    return any(mine[at : at + len(wanted)] == wanted for at in range(len(mine)))


WORDS = ["Ada", "ada", "LO", "Bo", "Lovelace", "7", "123456", "É", "é", "\u0301", " ", ", ", "-", "'", "_", "\n"]
PIECES = st.lists(st.sampled_from(WORDS), max_size=6)
TEXTS = PIECES.map("".join)


@given(st.lists(TEXTS, min_size=1, max_size=4), st.lists(TEXTS, min_size=1, max_size=4))
@settings(max_examples=150, deadline=None)
def test_words_are_found_as_the_plain_twin_does(texts: list[str], values: list[str]) -> None:
    found = Words(pa.array(texts[:2]), pa.array(texts[2:], pa.string())).named_by(pa.array(values))
    assert found.beside.tolist() == [any(plainly(text, value) for value in values) for text in texts]


NUMBERS = st.sampled_from([0, 7, -7, 12_345, -12_345, 123_456, -123_456, 1_234_567])


@given(st.lists(TEXTS, min_size=1, max_size=4), st.lists(NUMBERS, min_size=1, max_size=4), st.lists(NUMBERS))
@settings(max_examples=100, deadline=None)
def test_whole_numbers_are_found_as_the_plain_twin_does(
    texts: list[str], values: list[int], written: list[int]
) -> None:
    texts = [*texts, *(f"case {number}, well" for number in written)]
    for column in (pa.array(values), pa.array(values, pa.int32()), pa.array(values).dictionary_encode()):
        found = Words(pa.array(texts)).named_by(column)
        assert found.beside.tolist() == [any(plainly(text, str(value)) for value in values) for text in texts]


def test_numbers_that_a_column_cannot_hold_are_not_looked_for_in_it() -> None:
    texts = Words(pa.array([f"case {2**64 - 1}", f"case {2**63}", "case 300000"]))
    found = [texts.named_by(pa.array([value], type_)) for value, type_ in ((2**64 - 1, pa.uint64()), (44, pa.int8()))]
    assert [named.beside.tolist() for named in found] == [[True, False, False], [False, False, False]]


@pytest.mark.parametrize(
    "note",
    ["seen with ADA LOVELACE", "Bo, 36, flu", "éa mu\u0308ller; well", "no. 100234", "x\tCy O'Neil\ty", "„Bo“ said"],
)
def test_a_note_with_an_identifier_is_refused_without_being_shown(note: str) -> None:
    with pytest.raises(DataError, match=r"`note`: 1 cell \(the first in data row 1\) with .* `name` beside") as caught:
        publish(table([note, "well"]))
    assert note not in str(caught.value)
    assert "names_nobody" in str(caught.value)


def test_labels_of_a_hierarchy_are_looked_at() -> None:
    tree = uc.Hierarchy([("flu", "as Bo had it"), ("cold", "as Bo had it"), ("gout", "another")])
    schema = uc.Schema(identifiers="name", quasi_identifiers="disease", columns={"disease": uc.Column(hierarchy=tree)})
    with pytest.raises(DataError, match="`disease`: 1 label with a value of the identifier `name`"):
        publish(table(["well"]), schema)


@pytest.mark.parametrize("note", ["flu\nBo,31,cold,x", "31,cold\nBo,31,flu", "a\r\nDi Prima;30;flu;well\r\nb"])
def test_rows_that_ran_together_are_refused_though_marks_are_balanced(note: str) -> None:
    data, schema = table([note, "well"]), uc.Schema(quasi_identifiers="age", insensitive="note")
    for given_ in (data, data.to_pandas()):
        with pytest.raises(DataError, match=r"`note`: 1 cell \(the first in data row 1\) of several lines"):
            publish(given_, schema)


def test_a_swallowed_row_of_a_file_is_refused_by_its_own_separator(tmp_path: Path) -> None:
    lines = [f"Name{i:03d} Sur{i:03d};{20 + i % 9};flu;plain" for i in range(40)]
    lines[10] = lines[10].replace("plain", '"plain')
    lines[11] += '"'
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress("\n".join(["name;age;disease;note", *lines]).encode()))
    with pytest.raises(DataError, match=r"`note`: 1 cell .* of several lines") as caught:
        publish(tmp_path / "t.csv.gz")
    assert "Name011" not in str(caught.value)


@pytest.mark.parametrize(
    "notes",
    [
        ["Adamas, Bob and 1002345", "a 100 234"],
        ["of several lines\nas texts are, well", "and, so, on"],
        ['a, b, c, d with ""marks"" and 5" pipes', "it's O'Neil's"],
        ["12,500", "1,000"],
        [None, "x"],
    ],
)
def test_honest_texts_are_published(notes: list[str | None]) -> None:
    assert publish(table(notes)).rows.size == len(NAMES)


def test_short_numbers_and_letters_are_nobodys() -> None:
    assert publish(table(["7 days, ward B", "5 mg"], [1, 2, 3, 4, 5, 7])).rows.size == 6
    assert publish(table(["7 days, ward B", "5 mg"], ["B", "7", "a", "b", "c", "5"])).rows.size == 6
    with pytest.raises(DataError, match="beside other words"):
        publish(table(["case 100003", "x"], [100001, 100002, 100003, 100004, 100005, 100006]))


def test_a_city_that_is_also_a_name_is_told_and_a_column_of_names_is_refused() -> None:
    names = [f"Name{i}" for i in range(11)] + ["Paris"]
    run = uc.publish(table(["Paris", "Rome", "Bonn"], names), SCHEMA, uc.Mondrian(k=2))
    (reason,) = [reason for reason in run.verdict.reasons if reason.kind == "names"]
    assert reason.text.startswith("1 of the texts of `note` are also values of the identifier `name`")
    assert "Paris" not in reason.sentence()
    with pytest.raises(DataError, match="most of its texts are values of the identifier `name`"):
        publish(table(names[::-1], names))


def _held(run: uc.Run) -> list[object]:
    return list(scanning.Words(run, (), Path(), tuple(scanning.cells_of(run, run.release))).leaks())


def test_whoever_has_looked_goes_on() -> None:
    street = table(["Quistgaard Road", "Bo Street"], ["Quistgaard", "Bo", "Cy", "Di", "Ea", "Fa"])
    with pytest.raises(DataError):
        publish(street)
    looked = uc.Schema(**{**vars(SCHEMA), "columns": {"note": uc.Column(names_nobody=True)}})
    run = publish(street, looked)
    assert "by_chance" not in run.source
    assert not _held(run)  # nor is it withheld when it is saved
    unlooked = replace(run, schema=SCHEMA)
    assert _held(unlooked)
    with pytest.raises(DataError, match="of several lines"):
        publish(table(["flu\nBo,31,cold,x"]), looked)
