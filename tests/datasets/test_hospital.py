"""The papers' examples are what is printed."""

from collections import Counter
from fractions import Fraction

import pytest

from undercover.datasets import hospital
from undercover.errors import ParameterError
from undercover.model.table import Table


def test_every_example_fits_its_schema():
    for name, example in hospital().items():
        assert example.name == name
        assert Table.from_arrow(example.table, example.schema).n_rows == example.table.num_rows
        assert example.source
        assert example.note


def test_rows_per_example():
    assert {name: example.table.num_rows for name, example in hospital().items()} == {
        "mutual-cover": 10,
        "perturbed-generalization": 8,
        "perturbed-generalization-voters": 9,
        "perturbed-generalization-group": 11,
        "streamliner": 5,
        "noncentralized-revenue": 12,
        "noncentralized-census": 12,
        "cross-bucket": 8,
        "cross-bucket-voters": 4,
    }


def test_unknown_name_lists_what_exists():
    with pytest.raises(ParameterError, match=r"Did you mean `streamliner`\? There are: .*`mutual-cover`"):
        hospital("streamlinr")


def test_mutual_cover_is_2_anonymous_with_two_pneumonias_in_one_pair():
    table = hospital("mutual-cover").table
    assert table["age"].to_pylist() == [28, 29, 29, 32, 33, 35, 39, 39, 40, 41]
    assert table["disease"].to_pylist()[4:6] == ["pneumonia", "pneumonia"]


def test_group_of_eleven_is_recursively_diverse():
    counts = sorted(Counter(hospital("perturbed-generalization-group").table["disease"].to_pylist()).values())[::-1]
    assert counts == [3, 2, 2, 2, 1, 1]
    assert counts[0] <= Fraction(1, 2) * sum(counts[2:])


def test_only_emily_is_no_patient():
    patients = set(hospital("perturbed-generalization").table["owner"].to_pylist())
    voters = set(hospital("perturbed-generalization-voters").table["name"].to_pylist())
    assert voters - patients == {"Emily"}


def test_two_offices_hold_the_same_people_and_together_give_kate_away():
    revenue, office = hospital("noncentralized-revenue").table, hospital("noncentralized-census").table
    assert revenue.select(["name", "salary_class"]) == office.select(["name", "salary_class"])
    classes: dict[tuple[bool, bool], Counter[str]] = {}
    for person, home in zip(revenue.to_pylist(), office.to_pylist(), strict=True):
        key = person["age"] >= 40, home["zip_code"] >= 20000
        classes.setdefault(key, Counter())[person["salary_class"]] += 1
    # Counts of the centralised join, Table 4 of the paper.
    assert classes == {
        (True, True): {"High": 2, "Middle": 2, "Low": 1},
        (True, False): {"High": 2, "Low": 1},
        (False, True): {"Middle": 2, "Low": 1},
        (False, False): {"Low": 1},
    }


def test_cross_bucket_values():
    counts = Counter(hospital("cross-bucket").table["disease"].to_pylist())
    assert sorted(counts.values()) == [1, 1, 1, 1, 2, 2]
