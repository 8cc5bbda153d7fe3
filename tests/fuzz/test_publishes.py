"""Hundreds of hostile tables, published in every way with their reports: each is published whole or refused in words.

`make fuzz` tries ten thousand. What is tried, and what counts as a fault, is in `hostile_publishes.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import hostile_publishes
import polars
import pyarrow as pa
import pytest
from hostile_publishes import MARK, METHODS, published
from hypothesis import HealthCheck, Phase, given
from hypothesis import strategies as st

import undercover as uc
from effort import examples
from pictures import drawing
from undercover.errors import DataError
from undercover.model.formats import FORMATS

SEEDS = st.integers(0, 2**63)
USUAL = {"phases": [Phase.generate], "suppress_health_check": list(HealthCheck), "database": None}
DRAWN = 16
"""One report in so many has its charts drawn, which takes longer than everything else."""
became: Counter[str] = Counter()


def tried(seed: int, method: str | None = None) -> hostile_publishes.Outcome:
    """What becomes of a seed, with real charts where it is its turn."""
    with TemporaryDirectory() as folder, drawing():
        return published(seed, Path(folder), method, drawn=seed % DRAWN == 0)


@pytest.fixture(scope="module", autouse=True)
def some_are_published() -> Iterator[None]:
    """A tester that only ever saw refusals would show nothing."""
    became.clear()
    yield
    assert became["published"] * 8 >= became.total()


@pytest.mark.parametrize("method", METHODS)
@examples(65, **USUAL)
@given(seed=SEEDS)
def test_a_hostile_table_is_published_or_refused(method: str, seed: int) -> None:
    outcome = tried(seed, method)
    became[outcome.became] += 1
    assert outcome.wrong == (), f"python tests/fuzz/hostile_publishes.py {seed} 1 {method}"


ROWS = 24
PEOPLE = {"age": [n % 6 for n in range(ROWS)], "ill": ["abcd"[n % 4] for n in range(ROWS)]}
SCHEMA = uc.Schema(quasi_identifiers=["age"], sensitive="ill")


@pytest.mark.parametrize("number", [1e308, -1e308, 5e-324])
@pytest.mark.parametrize("method", [uc.Mondrian(k=2), uc.Incognito(k=2)])
def test_numbers_that_nothing_can_be_computed_with_are_refused(number: float, method: Any) -> None:
    """Found at random: widths and sums overflowed, and figures of the report were none."""
    table = pa.table({**PEOPLE, "age": [number, *([1.5] * (ROWS - 1))]})
    with pytest.raises(DataError, match="nothing can be computed with them"):
        uc.publish(table, SCHEMA, method, policy="none")


def test_sensitive_numbers_of_rows_are_refused_before_a_verifier_does() -> None:
    """Found at random: such a release was published, and did not verify."""
    with pytest.raises(DataError, match="numbers the rows"):
        uc.publish(pa.table({**PEOPLE, "ill": list(range(ROWS))}), SCHEMA, uc.Mondrian(k=2, l=2), policy="none", seed=1)


def test_a_column_without_any_value_is_measured(tmp_path: Path) -> None:
    """Found at random: no query could be drawn of it."""
    table = pa.table({**PEOPLE, "gone": pa.nulls(ROWS, pa.float64()), "ill": [float(n % 4) for n in range(ROWS)]})
    schema = uc.Schema(quasi_identifiers=["age", "gone"], sensitive="ill", missing="category")
    assert uc.verify(uc.save(uc.publish(table, schema, uc.Mondrian(k=2), policy="none"), tmp_path / "out")).holds


def test_a_name_with_a_nul_comes_out_of_polars() -> None:
    """Found at random: polars panics, which is no exception that anybody catches. No verifier accepts the name."""
    frame = polars.DataFrame({"a\0ge": PEOPLE["age"], "ill": PEOPLE["ill"]})
    schema = uc.Schema(quasi_identifiers=["a\0ge"], sensitive="ill")
    with pytest.raises(DataError, match="letters that are not printed"):
        uc.publish(frame, schema, uc.Mondrian(k=2), policy="none")


@pytest.mark.parametrize("name", ["", " "])
def test_a_column_without_a_name_is_refused(name: str) -> None:
    """Found at random: the file called it something else, and the release crashed after it was made."""
    table = pa.table({name: PEOPLE["age"], "ill": PEOPLE["ill"]})
    with pytest.raises(DataError, match="has no name"):
        uc.publish(table, uc.Schema(quasi_identifiers=[name], sensitive="ill"), uc.Mondrian(k=2), policy="none")


def test_numbers_published_as_they_are_have_the_datasheet_that_a_verifier_makes(tmp_path: Path) -> None:
    """Found at random: in memory they were texts, in the file numbers, and the honest datasheet was called forged."""
    run = uc.publish(pa.table(PEOPLE), SCHEMA, uc.Incognito(k=2), policy="none")
    column = run.release.tables[0].columns[0]
    held = run.release.tables[0].data.column("age").type
    assert (column.form, held.value_type) == ("value", pa.string()), "in memory it is a text"
    for file_format in FORMATS:
        out = uc.save(run, tmp_path / file_format, format=file_format)  # type: ignore[arg-type]
        assert uc.verify(out / "public").problems == ()


def test_cells_that_hold_rows_are_refused_before_a_verifier_does(tmp_path: Path) -> None:
    """Found at random: such a release was saved, and did not verify."""
    table = pa.table({**PEOPLE, "note": ["a,b,c,d\ne,f,g,h"] * ROWS})
    schema = uc.Schema(quasi_identifiers=["age"], sensitive="ill", insensitive=["note"])
    run = uc.publish(table, schema, uc.Mondrian(k=2), policy="none")
    with pytest.raises(DataError, match="hold lists of values"):
        uc.save(run, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_planted_faults_are_found(tmp_path: Path) -> None:
    """A crash, an identifier in a public file, a folder that is left behind, and a release that does not verify."""
    seed = next(seed for seed in range(200) if tried(seed, "mondrian").became == "published")

    def again(name: str) -> hostile_publishes.Outcome:
        (tmp_path / name).mkdir()
        return published(seed, tmp_path / name, "mondrian")

    with mock.patch.object(uc, "publish", side_effect=KeyError), pytest.raises(KeyError):
        again("crash")
    save = uc.save

    def leaking(run: uc.Run, out: Path, **options: object) -> Path:
        place = save(run, out, **options)  # type: ignore[arg-type]
        tables = next(place / name for name in ("public", "withheld") if (place / name).is_dir())
        (tables / "datasheet.html").write_text(f"{MARK}1")
        Path(out.parent, "temporary", "left").touch()
        return place

    with mock.patch.object(uc, "save", leaking):
        wrong = " ".join(again("leak").wrong)
    for said in ("an identifier stands in datasheet.html", "left behind: left", "not verified"):
        assert said in wrong
