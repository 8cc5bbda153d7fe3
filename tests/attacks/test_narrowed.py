"""A release read for some people: rows that can be of none of them go, and nothing else does."""

import pyarrow as pa
import pytest

import undercover as uc
from undercover.forms.narrowed import about, same_tables
from undercover.model.release import PublishedColumn, PublishedTable, Release

PEOPLE = uc.Table.from_arrow(
    pa.table({"age": [20, 25, 30], "town": ["Bonn", "Lyon", "Bonn"], "ill": ["flu", "cold", "gout"]}),
    uc.Schema(quasi_identifiers=["age", "town"], sensitive="ill"),
)


def release(ages: list[str], towns: list[str], town_form: str = "set") -> Release:
    columns = (
        PublishedColumn("age", "quasi-identifier", "interval"),
        PublishedColumn("town", "quasi-identifier", town_form),  # type: ignore[arg-type]
        PublishedColumn("ill", "sensitive", "value"),
    )
    texts = [pa.array(texts).dictionary_encode() for texts in (ages, towns, ["flu"] * len(ages))]
    return Release("x", {}, (PublishedTable("table", columns, pa.table(texts, ["age", "town", "ill"])),), True)


def ages_of(found: Release) -> list[str]:
    return found.table()["age"].to_pylist()


def test_rows_of_others_go() -> None:
    made = release(["20", "80", "[19, 26]", "[70, 90]", "*"], ["Bonn", "Bonn", "{Bonn, Rome}", "Lyon", "Rome"])
    found = about(made, PEOPLE)
    assert ages_of(found) == ["20", "[19, 26]"]  # 80 and 70 to 90: nobody; Rome: nobody
    assert found.table()["town"].combine_chunks().unique().to_pylist() == ["Bonn", "{Bonn, Rome}"]
    assert len(ages_of(made)) == 5


def test_what_covers_somebody_stays_as_it_is() -> None:
    made = release(["20", "[20, 90]"], ["Bonn", "*"])
    assert about(made, PEOPLE) is made


@pytest.mark.parametrize("label", ["Germany", "Rome"])
def test_a_node_that_is_not_known_stays(label: str) -> None:
    """It may stand for somebody here; the attack will say that it cannot be read."""
    assert ages_of(about(release(["20"], [label], "node"), PEOPLE)) == ["20"]


def test_the_same_rows_in_another_order() -> None:
    one, other = release(["20", "25"], ["Bonn", "Lyon"]), release(["25", "20"], ["Lyon", "Bonn"])
    assert same_tables(one, other)
    assert not same_tables(one, release(["25", "20"], ["Bonn", "Lyon"]))
    assert not same_tables(one, release(["20"], ["Bonn"]))
