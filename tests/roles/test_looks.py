"""Roles by what the values look like, under a name that says nothing, and by what the other columns say."""

from __future__ import annotations

import pyarrow as pa
import pytest

from undercover.studies.inspect.inspection import inspect

ROWS = 200


def looked(values: list[object], name: str = "q") -> tuple[str, str]:
    column = inspect(pa.table({name: [values[row % len(values)] for row in range(ROWS)]})).columns[0]
    return column.role, column.reason


@pytest.mark.parametrize(
    ("values", "role", "word"),
    [
        (["negative", "positive", "invalid"], "sensitive", "results of tests"),
        (["male", "female"], "quasi-identifier", "sexes"),
        (["verheiratet", "ledig", "geschieden"], "quasi-identifier", "marital"),
        (["White", "Black", "Asian", "Other"], "quasi-identifier", "origins"),
        (["catholic", "protestant", "none"], "sensitive", "beliefs"),
        (["Bachelor's degree", "Master's degree", "High school"], "quasi-identifier", "schooling"),
        (["inpatient ward a", "emergency dept", "oncology day hosp"], "quasi-identifier", "treatment"),
        (["Robbery", "Assault", "Theft of a car"], "sensitive", "offences"),
        (["Anna", "Peter", "Maria", "Zaphod"], "identifier", "names of people"),
        ([f"{number} Elm Street" for number in range(150)], "identifier", "addresses"),
        ([f"{number} Elm Street" for number in range(5)], "quasi-identifier", "addresses"),
        (["J45.9", "E11.65", "I10", "F32.1", "C50.9"], "sensitive", "ICD"),
        (["250.83", "428", "V57", "414", "786"], "sensitive", "ICD"),
        ([f"{number:05d}" for number in range(1067, 1120)], "quasi-identifier", "postcodes"),
        (["$10,000", "$25,000", "$5,000"], "sensitive", "money"),
        (["$10k to $20k", "under $10k", "$20k to $30k"], "sensitive", "money"),
        (["[0-10)", "[10-20)", "[50-60)", "[90-100)"], "quasi-identifier", "ages"),
        (["18-24 years old", "25-34 years old", "65+ years old"], "quasi-identifier", "ages"),
        (["03.12.1980", "24.01.1975", "31.05.1990"], "quasi-identifier", "date"),
        (["2016-04-29T18:38:08Z", "2016-04-27T08:36:51+02:00"], "quasi-identifier", "date"),
        (["14:05", "09:30", "23:59"], "quasi-identifier", "time"),
        (["Jan-2015", "Dec-2014"], "quasi-identifier", "date"),
        ([19330112, 19870930, 20011231], "quasi-identifier", "date"),
        (["9f1a22b3c4", "0e11ab93cc", "77aa01bc9d"], "identifier", "hashes"),
        (list(range(1931, 2003)), "quasi-identifier", "years"),
        (list(range(17, 91)), "quasi-identifier", "years of a life"),
        (["red", "green", "blue"], "none", "Neither"),
        (["A", "B", "C"], "none", "Neither"),
        (["yes", "no"], "none", "Neither"),
        ([f"C{number}" for number in range(1, 30)], "none", "Neither"),
        (list(range(12)), "none", "Neither"),
    ],
)
def test_by_what_the_values_look_like(values, role, word):
    found, reason = looked(values)
    assert (found, word in reason) == (role, True), reason


@pytest.mark.parametrize(
    ("values", "role"),
    [(["PVT", "SGT", "CPL"], "quasi-identifier"), (["A", "B", "C"], "sensitive"), (list(range(1, 7)), "sensitive")],
)
def test_the_grade_of_a_soldier_is_not_that_of_a_pupil(values, role):
    assert looked(values, "grade")[0] == role


def test_an_address_of_few_values_is_a_place():
    assert looked(["town", "country"], "address")[0] == "quasi-identifier"
    assert looked(["U", "R"], "name")[0] == "none"


def roles(**columns: list[object]) -> dict[str, str]:
    rows = {name: [values[row % len(values)] for row in range(ROWS)] for name, values in columns.items()}
    return {column.name: column.role for column in inspect(pa.table(rows)).columns}


def test_a_coordinate_beside_another():
    degrees = [10.1234 + row / 1000 for row in range(150)]
    found = roles(lat=degrees, long=[value - 80.55555 for value in degrees], pos_x=degrees, pos_y=degrees)
    assert set(found.values()) == {"identifier"}
    assert roles(long=degrees, price=[1.5, 2.5])["long"] == "none"
    assert roles(lat=degrees, price=[1.5, 2.5])["price"] == "none"


def test_columns_with_the_same_values_as_illnesses():
    codes = [1, 2, 98]
    found = roles(asthma=codes, diabetes=codes, otra=codes, other=[1, 2, 3])
    assert (found["otra"], found["other"]) == ("sensitive", "none")
    assert roles(age=codes, asthma=codes, otra=codes)["otra"] == "none"


def test_a_table_that_speaks_of_health():
    few = [1, 2, 3]
    health = dict.fromkeys(("diagnosis", "treatment", "glucose", "asthma"), few)
    assert roles(**health, slope=few)["slope"] == "sensitive"
    assert roles(**health, slope=["same"])["slope"] == "none"
    assert roles(**health, fnlwgt=few)["fnlwgt"] == "none"
    others = {f"x{place}": few for place in range(13)}
    assert roles(**health, **others, slope=few)["slope"] == "none"
    assert roles(diagnosis=few, treatment=few, glucose=few, slope=few)["slope"] == "none"


def test_ages_only_where_no_column_is_one():
    assert roles(q=list(range(17, 91)), age=list(range(17, 91)))["q"] == "none"
    assert roles(q=list(range(0, 300, 2)))["q"] == "none"
