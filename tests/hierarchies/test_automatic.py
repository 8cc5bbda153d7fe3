"""Levels that nobody gave: each a function of the one below, every cell read back as the values it stands for."""

import re
from datetime import date, datetime, timedelta

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import undercover as uc
from undercover.forms.meaning import domain_values
from undercover.hierarchies.automatic import MOST, automatic_levels
from undercover.model.schema import Column
from undercover.model.table import EncodedColumn, encode
from undercover.steps.lattice.cubes import FullDomain

MOMENTS = st.datetimes(datetime(1700, 1, 1), datetime(2300, 1, 1))
BANDS = ("<18", *(f"{age}-{age + 4}" for age in range(20, 80, 5)), "80+", "unknown")
VALUES = {
    "whole": st.integers(-(10**12), 10**12) | st.integers(0, 120),
    "numbers": st.floats(-1e9, 1e9).map(lambda number: round(number, 3)),
    "days": MOMENTS.map(datetime.date),
    "moments": MOMENTS,
    "bands": st.sampled_from(BANDS),
    "codes": st.integers(0, 99999).map(lambda number: f"{number:05d}"),
}


def column(values: list[object], kind: str) -> EncodedColumn:
    """The values as a column that is settled."""
    order = BANDS if kind == "bands" else tuple(sorted(set(map(str, values)))) if kind == "codes" else None
    settings = Column(kind="ordinal", domain=order) if order else Column()
    return encode("x", pa.array(values), settings, missing="category")


@pytest.mark.parametrize("kind", VALUES)
@given(data=st.data())
def test_levels_are_nested_and_cells_stand_for_their_values(kind: str, data: st.DataObject) -> None:
    values = data.draw(st.lists(VALUES[kind], min_size=1, max_size=40))
    coded = column([*values, *data.draw(st.sampled_from([[], [None]]))], kind)
    known = domain_values(coded)
    levels = automatic_levels(coded)
    assert len(levels) <= MOST
    below = list(coded.domain.labels[: len(coded.domain.values)])
    for level in levels:
        assert 1 < len(set(level)) < len(set(below))
        above = dict(zip(below, level, strict=True))
        assert [above[label] for label in below] == level  # a function of the level below
        for cell in set(level):
            meaning = known.read(cell, "interval")
            inside = [place for place, label in enumerate(level) if label == cell]
            assert (meaning.low, meaning.high, meaning.members) == (inside[0], inside[-1], None)
            assert len(inside) == meaning.size
        below = level


def test_ages_lie_in_fives_tens_twenties_and_forties() -> None:
    ages = column(list(range(17, 91)), "whole")
    assert [level[6] for level in automatic_levels(ages)] == ["[20, 24]", "[20, 29]", "[20, 39]", "[0, 39]"]


def test_postcodes_that_were_read_as_numbers_lie_under_their_prefixes() -> None:
    codes = column([10115, 10117, 10245, 12043, 80331], "whole")
    assert [level[0] for level in automatic_levels(codes)] == [
        "[10110, 10119]",
        "[10000, 10999]",
        "[10000, 19999]",
    ]
    texts = column(["01067", "01069", "01968", "02625", "80331"], "codes")
    assert [level[0] for level in automatic_levels(texts)] == ["[01067, 01069]", "[01067, 01968]", "[01067, 02625]"]


def test_days_lie_in_months_quarters_years_and_decades() -> None:
    days = column([date(1980, 1, 5) + timedelta(days=9 * number) for number in range(500)], "days")
    assert [level[0] for level in automatic_levels(days)] == [
        "[1980-01-01, 1980-01-31]",
        "[1980-01-01, 1980-03-31]",
        "[1980-01-01, 1980-12-31]",
        "[1980-01-01, 1989-12-31]",
    ]
    hours = column([datetime(2020, 2, 28, 5) + timedelta(hours=9 * number) for number in range(20)], "moments")
    assert automatic_levels(hours)[0][3] == "[2020-02-29T00:00:00, 2020-02-29T23:59:59]"


def test_what_stands_for_no_answer_is_joined_with_nothing() -> None:
    for level in automatic_levels(column(list(BANDS), "bands")):
        assert level[-1] == "unknown"


def test_categories_and_single_values_have_no_levels() -> None:
    assert automatic_levels(column(["Bonn", "Rome"], "words")) == []
    assert automatic_levels(column([7], "whole")) == []
    assert automatic_levels(encode("x", pa.array([None], pa.int64()), Column(), missing="category")) == []


def people(rows: int = 400) -> pa.Table:
    """Birthdays, bands and an illness that goes round."""
    days = [date(1940, 1, 1) + timedelta(days=(37 * row * row) % 24_000) for row in range(rows)]
    return pa.table(
        {
            "born": [f"{day:%d.%m.%Y}" for day in days],
            "rooms": ["1-2", "3-4", "5-6", "7+"] * (rows // 4),
            "ill": [f"illness {row % 7}" for row in range(rows)],
        }
    )


SCHEMA = uc.Schema(quasi_identifiers=["born", "rooms"], sensitive="ill")


def test_the_loss_a_method_sees_is_the_loss_that_is_measured() -> None:
    run = uc.publish(people(), SCHEMA, uc.Incognito(k=5), policy="none")
    measured = uc.measure(people(), run).loss["arx"]
    assert run.diagnostics["loss"] == pytest.approx(measured.geometric)
    assert not run.warnings


def test_a_recipe_with_levels_of_its_own_carries_over_to_other_values() -> None:
    first = uc.publish(people(), SCHEMA, uc.Incognito(k=5), policy="none")
    other = people(200).set_column(0, "born", pa.array([f"05.{1 + row % 12:02d}.2005" for row in range(200)]))
    second = uc.apply(first, other)
    assert second.release.guarantees[0]["actual"] >= 5


@pytest.mark.parametrize("method", [uc.Incognito(k=5), uc.NonCentralized(l=3), uc.Mondrian(k=5)])
def test_nobody_is_published_by_a_list_of_days(method: object) -> None:
    run = uc.publish(people(), SCHEMA, method, policy="none")  # type: ignore[arg-type]
    cells = set(run.release.table()["born"].to_pylist())
    assert len(cells) > 1
    assert all(cell == "*" or cell[0] == "[" or len(cell) == len("1980-12-31") for cell in cells)
    assert not any("{" in cell for cell in cells)


def test_regions_of_perturbed_generalization_lie_along_the_levels() -> None:
    illnesses = tuple(f"illness {number}" for number in range(7))
    schema = uc.Schema(
        quasi_identifiers=["born", "rooms"], sensitive="ill", columns={"ill": uc.Column(domain=illnesses)}
    )
    method = uc.PerturbedGeneralization(k=5, p=0.3, recoding="incognito")
    run = uc.publish(people(), schema, method, policy="none")
    assert len(set(run.release.table()["born"].to_pylist())) > 1
    assert all(finding.holds for finding in run.verification.findings)


def test_days_that_are_published_whole_are_as_they_were_written() -> None:
    run = uc.publish(people(), SCHEMA, uc.Anatomy(l=3), policy="none")
    assert {day.isoformat()[4] for day in run.release.tables[0].data["born"].to_pylist()} == {"-"}
    assert sorted(run.release.table("qit")["born"].to_pylist()) == sorted(people()["born"].to_pylist())


def test_days_beside_a_missing_one_are_a_range_where_regions_may_not_overlap() -> None:
    born = people()["born"].to_pylist()
    table = people().set_column(0, "born", pa.array([None if row % 40 == 0 else day for row, day in enumerate(born)]))
    schema = uc.Schema(quasi_identifiers=["born", "rooms"], sensitive="ill", missing="category")
    run = uc.publish(table, schema, uc.Mondrian(k=25, recoding="regions"), policy="none")
    cells = [cell for cell in run.release.table()["born"].to_pylist() if cell and cell[0] == "{"]
    assert cells
    assert all(re.fullmatch(r'\{"\[\d{4}-\d\d-\d\d, \d{4}-\d\d-\d\d\]", ""\}', cell) for cell in cells)
    assert uc.verify(run, original=table).holds
    assert uc.measure(table, run).loss["arx"].per_column["born"] < 1


def test_a_large_lattice_has_fewer_levels_of_each_column() -> None:
    ages = pa.table({f"age {number}": list(range(17, 91)) for number in range(8)})
    heights = {}
    for columns in (2, 6, 8):
        table = uc.Table.from_arrow(ages, uc.Schema(quasi_identifiers=ages.column_names[:columns]))
        domain = FullDomain(table, table.schema.quasi_identifiers)
        heights[columns] = set(domain.lattice.heights)
        assert domain.columns[0].levels[-2].labels == ("[0, 39]", "[40, 79]", "[80, 119]")
    assert heights == {2: {5}, 6: {3}, 8: {2}}


def test_an_order_that_was_found_is_found_again_in_another_table() -> None:
    first = uc.publish(people(), SCHEMA, uc.Mondrian(k=5), policy="none")
    assert first.schema.column("rooms").found
    other = people().set_column(1, "rooms", pa.array(["1-2", "3-4", "5-8", "9+"] * 100))
    second = uc.apply(first, other)
    assert second.schema.column("rooms").domain == ("1-2", "3-4", "5-8", "9+")


@pytest.mark.parametrize("method", [uc.Incognito(k=5), uc.Mondrian(k=5)])
def test_a_recipient_counts_in_bands_and_days_without_being_told_their_order(method: object) -> None:
    release = uc.publish(people(), SCHEMA, method, policy="none").release  # type: ignore[arg-type]
    small = uc.answer(release, uc.CountQuery(where={"rooms": ["1-2", "3-4"]}))
    assert small.lower <= 200 <= small.upper
    old = uc.answer(release, uc.CountQuery(where={"born": uc.Between("1940-01-01", "1969-12-31")}))
    true = sum(int(day[-4:]) < 1970 for day in people()["born"].to_pylist())
    assert old.lower <= true <= old.upper < 400
