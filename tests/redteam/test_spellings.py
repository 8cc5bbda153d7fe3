"""One diagnosis in eight spellings: it was once counted as eight values, l-diverse and Ready."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import undercover as uc
from undercover.errors import DataError, UnreachableError
from undercover.guarantees.verify import verify_table
from undercover.io.csv.text import write_csv
from undercover.testing.forged import Folder

SPELLINGS = ("HIV", "hiv", "H.I.V.", "\u0397IV", "HIV ", "H-I-V", "Hiv", "H I V")
OTHERS = ("flu", "gout", "ulcer", "rash", "angina", "fever", "cold", "eczema")
GENOTYPES = ("AA", "Aa", "aA", "aa", "BB", "Bb", "bB", "bb")


def patients(values: tuple[str, ...], rows: int = 400) -> pa.Table:
    return pa.table({"age": [20 + i % 40 for i in range(rows)], "ill": [values[i % len(values)] for i in range(rows)]})


def published(table: pa.Table, method: Any = None, **settings: Any) -> uc.Run:
    columns = {"ill": uc.Column(**settings)} if settings else {}
    schema = uc.Schema(quasi_identifiers=["age"], sensitive="ill", columns=columns)
    return uc.publish(table, schema, method or uc.Mondrian(k=8, l=4))


def asked(run: uc.Run) -> list[str]:
    return [reason.text for reason in run.verdict.weighing("ask") if reason.kind == "spelling"]


METHODS = [
    uc.Mondrian(k=8, l=4),
    uc.Mondrian(k=8),
    uc.Anatomy(l=4),
    uc.CrossBucket(k=4, l=4),
    uc.MutualCover(variant="groups", l=4),
    uc.Streamliner(l=4),
]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_eight_spellings_are_not_published_as_eight_values(method: Any) -> None:
    with pytest.raises(DataError, match="seems to spell 1 value in 8 ways") as told:
        published(patients(SPELLINGS), method)
    assert not any(spelling in str(told.value) for spelling in SPELLINGS)


@pytest.mark.parametrize("numbers", [("1,5", "1.5", "1.50", "1,50"), ("10", "10.0", "10,0", "10.00")])
def test_formats_of_one_number_are_one_value(numbers: tuple[str, ...]) -> None:
    with pytest.raises(DataError, match="seems to spell 1 value in 4 ways"):
        published(patients(numbers), uc.Mondrian(k=4, l=2), kind="categorical")


def test_folded_they_are_one_value_for_the_method() -> None:
    with pytest.raises(UnreachableError, match=r"most frequent value is 100\.0%"):
        published(patients(SPELLINGS), spellings="fold")


def test_folded_each_value_is_published_in_its_most_frequent_spelling(tmp_path: Path) -> None:
    run = published(patients(("HIV", "HIV", "hiv", *OTHERS)), uc.Mondrian(k=8, l=3), spellings="fold")
    (table,) = run.release.tables
    assert set(table.data.column("ill").to_pylist()) == {"HIV", *OTHERS}
    assert not asked(run)
    folder = uc.save(run, tmp_path / "out")
    assert json.loads((folder / "private" / "run.json").read_text())["schema"]["columns"]["ill"]["spellings"] == "fold"
    assert uc.verify(folder).holds
    assert any("most frequent spelling" in warning for warning in run.warnings)


def test_different_values_that_only_case_tells_apart(tmp_path: Path) -> None:
    """Somebody says that AA, Aa and aa differ: the release says so, and a verifier counts them so, aloud."""
    with pytest.raises(DataError, match="spell 2 values in 8 ways"):
        published(patients(GENOTYPES))
    run = published(patients(GENOTYPES), spellings="distinct")
    assert not asked(run)
    folder = uc.save(run, tmp_path / "out")
    found = uc.verify(folder / "public")
    assert found.holds
    assert any("is what the holder says" in note for note in found.to_dict()["notes"])


def test_without_the_holders_word_the_same_release_does_not_verify(tmp_path: Path) -> None:
    public = uc.save(published(patients(GENOTYPES), spellings="distinct"), tmp_path / "out") / "public"
    manifest = json.loads((public / "release.json").read_text())
    for column in manifest["tables"][0]["columns"]:
        column.pop("spellings", None)
    (public / "release.json").write_text(json.dumps(manifest))
    Folder(public).seal()
    found = uc.verify(public)
    assert found.holds is False
    (failure,) = found.failures
    assert failure.name == "l-diversity"
    assert failure.actual is not None
    assert failure.actual <= 2  # of eight spellings there are two values


def test_nobody_can_say_that_values_differ_which_nobody_can_tell_apart() -> None:
    with pytest.raises(DataError, match="1 value in 2 ways that nobody can tell apart"):
        published(patients(("flu", "flu ", *OTHERS[1:])), spellings="distinct")


def test_a_table_of_somebody_else_is_counted_so() -> None:
    table = pa.table({"age": ["[20, 29]"] * 8, "ill": list(SPELLINGS)})
    asked = [uc.LDiversity(l=2, form=form) for form in ("frequency", "distinct", "entropy")]
    assert [one.actual for one in verify_table(table, ["age"], ["ill"], asked).findings] == [1, 1, 1]


@pytest.mark.parametrize("near", [("asthma", "astma"), ("diabetes type 2", "diabetes, type II"), ("HIV", "HlV")])
def test_values_that_are_nearly_spelled_alike_are_to_be_decided_on(near: tuple[str, str]) -> None:
    run = published(patients((*near, *OTHERS)))
    (text,) = asked(run)
    assert run.verdict.title == "Decide"
    assert not any(value in text for value in near)
    assert not asked(published(patients((*near, *OTHERS)), spellings="distinct"))


@pytest.mark.parametrize(
    "values",
    [
        ("asthma 1", "asthma 2", "asthma 3", "asthma 4"),
        ("E11", "E12", "E13", "E11.9"),
        ("diabetes type 1", "diabetes type 2", "diabetes type 3", "diabetes type 4"),
        ("cold", "gold", "bold", "fold"),
        ("symptomatic", "asymptomatic", "unknown", "never"),
    ],
)
def test_codes_grades_and_opposites_are_not_asked_about(values: tuple[str, ...]) -> None:
    assert not asked(published(patients(values), uc.Mondrian(k=4, l=2)))


def test_numbers_and_declared_values_are_not_asked_about() -> None:
    numbers = patients(OTHERS).set_column(1, "ill", pa.array([10_000 + i % 50 for i in range(400)]))
    assert not asked(published(numbers, uc.Mondrian(k=8)))
    levels = ("little pain", "little pains", "much pain", "very much pain")
    assert asked(published(patients(levels), uc.Mondrian(k=4, l=2)))
    ordered = published(patients(levels), uc.Mondrian(k=4, l=2), kind="ordinal", domain=levels)
    assert not asked(ordered)


def test_folding_is_on_codes_what_it_is_on_texts() -> None:
    """A plain twin: every row by itself, the most frequent spelling of its value."""
    draw = np.random.default_rng(1)
    texts = draw.choice([*SPELLINGS, *OTHERS, "Flu", "flu."], 300).tolist()
    texts[::50] = [None] * 6
    table = pa.table({"age": list(range(300)), "ill": texts})
    columns = {"ill": uc.Column(spellings="fold")}
    schema = uc.Schema(quasi_identifiers=["age"], sensitive="ill", columns=columns, missing="category")
    found = uc.Table.from_arrow(table, schema)["ill"]
    of = {**dict.fromkeys(SPELLINGS, SPELLINGS), **dict.fromkeys(("flu", "Flu", "flu."), ("flu", "Flu", "flu."))}
    expected = [
        "" if text is None else max(sorted(of.get(text, (text,))), key=lambda same: texts.count(same)) for text in texts
    ]
    assert [found.domain.labels[code] for code in found.codes] == expected


def test_inspect_shows_the_holder_which_they_are() -> None:
    found = uc.inspect(patients((*SPELLINGS[:3], "asthma", "astma", "cold")).rename_columns(["age", "disease"]))
    (report,) = found.spellings
    assert set(report.same[0]) == set(SPELLINGS[:3])
    assert report.near == (("asthma", "astma"),)
    assert "'asthma', 'astma'" in str(found.view().to_dict())


def test_the_command_line_refuses_without_showing_a_value(tmp_path: Path) -> None:
    write_csv(patients(SPELLINGS), tmp_path / "patients.csv")
    line = [sys.executable, "-m", "undercover", "publish", "patients.csv", "--qi", "age", "--sensitive", "ill"]
    line += ["--method", "mondrian", "--set", "k=8", "--set", "l=4", "--out", "out"]
    found = subprocess.run(line, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert found.returncode == 2
    told = " ".join(found.stderr.split())
    assert 'spellings = "fold" under [columns.ill]' in told
    assert "`undercover inspect` lists them" in told
    assert not any(spelling in told for spelling in SPELLINGS)
    assert not (tmp_path / "out").exists()
