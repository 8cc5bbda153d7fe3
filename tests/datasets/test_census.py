"""The census has the domains, the shares and the dependencies it claims."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from undercover.datasets import census, census_hierarchies, census_schema
from undercover.datasets.population import EDUCATIONS
from undercover.errors import ParameterError
from undercover.model.table import Table, write_values

SIZES = {
    "age": 79,
    "sex": 2,
    "relationship": 13,
    "education": 17,
    "marital_status": 6,
    "race": 9,
    "work_class": 8,
    "birthplace": 57,
    "hours": 99,
    "occupation": 500,
    "income": 50,
    "salary": 850,
}


@pytest.fixture(scope="module")
def large() -> pa.Table:
    return census(600_000, seed=11)


@pytest.fixture(scope="module")
def demo() -> pa.Table:
    return census()


def codes(table: pa.Table, name: str) -> np.ndarray:
    return table[name].combine_chunks().dictionary_encode().indices.to_numpy()


def numbers(table: pa.Table, name: str) -> np.ndarray:
    return table[name].to_numpy()


def shares(values: np.ndarray) -> np.ndarray:
    return np.unique(values, return_counts=True)[1] / len(values)


def test_domains_are_complete_at_600k(large):
    assert {name: len(pc.unique(large[name])) for name in large.column_names} == SIZES


def test_domains_are_nearly_complete_at_30k(demo):
    for name, size in SIZES.items():
        assert len(pc.unique(demo[name])) >= 0.97 * size, name


def test_ranges(large):
    for name, low, high in (("age", 17, 95), ("hours", 1, 99), ("occupation", 1000, 1499), ("income", 0, 49)):
        assert pc.min_max(large[name]).as_py() == {"min": low, "max": high}


def test_nothing_is_missing(demo):
    assert all(demo[name].null_count == 0 for name in demo.column_names)


def test_same_seed_same_people():
    assert census(5000, seed=3) == census(5000, seed=3)
    assert census(5000, seed=3) != census(5000, seed=4)


def test_shorter_census_is_the_beginning_of_a_longer_one():
    assert census(100, seed=3).to_pydict() == census(5000, seed=3).slice(0, 100).to_pydict()


def test_the_global_generator_is_left_alone():
    np.random.seed(1)
    before = np.random.get_state()[1].copy()
    census(1000)
    assert (np.random.get_state()[1] == before).all()


@pytest.mark.parametrize("arguments", [{"n": 0}, {"n": -1}, {"n": 2.5}, {"n": True}, {"seed": -1}, {"seed": "x"}])
def test_bad_arguments(arguments):
    with pytest.raises(ParameterError, match="must be an int"):
        census(**arguments)


@pytest.mark.parametrize("table", ["large", "demo"])
def test_eligible_for_the_papers_l(table, request):
    people = request.getfixturevalue(table)
    assert shares(numbers(people, "income")).max() < 1 / 15
    assert shares(numbers(people, "salary")).max() < 1 / 40
    assert shares(numbers(people, "occupation") // 10).max() < 1 / 20


def test_fifty_groups_of_ten_occupations(large):
    groups = np.unique(numbers(large, "occupation")) // 10
    assert np.unique(groups, return_counts=True)[1].tolist() == [10] * 50


def test_forty_hours_stand_out(large):
    hours = np.bincount(numbers(large, "hours"))
    assert hours.argmax() == 40
    assert hours[40] > 5 * np.delete(hours, 40).max()


def test_salary_lies_in_its_income_class(large):
    assert (np.minimum(numbers(large, "salary") // 2000, 49) == numbers(large, "income")).all()


def test_only_the_married_are_spouses(large):
    spouses = large.filter(pc.equal(large["relationship"].cast(pa.string()), "Spouse"))
    assert pc.unique(spouses["marital_status"].cast(pa.string())).to_pylist() == ["Married"]


def mutual_information(a: np.ndarray, b: np.ndarray) -> float:
    joint = np.zeros((a.max() + 1, b.max() + 1))
    np.add.at(joint, (a, b), 1)
    joint /= joint.sum()
    product = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
    positive = joint > 0
    return float((joint[positive] * np.log(joint[positive] / product[positive])).sum())


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("age", "marital_status"),
        ("age", "relationship"),
        ("sex", "relationship"),
        ("birthplace", "race"),
        ("birthplace", "education"),
        ("race", "education"),
        ("age", "education"),
        ("education", "occupation"),
        ("sex", "occupation"),
        ("occupation", "hours"),
        ("sex", "hours"),
        ("age", "hours"),
        ("age", "income"),
        ("education", "income"),
        ("occupation", "income"),
        ("hours", "income"),
    ],
)
def test_columns_depend_on_each_other(large, a, b):
    seed = 20240
    print("seed", seed)
    left, right = codes(large, a), codes(large, b)
    shuffled = np.random.default_rng(seed).permutation(right)
    # What chance alone gives at this size is what the shuffled column shows.
    assert mutual_information(left, right) - mutual_information(left, shuffled) > 0.004
    assert mutual_information(left, right) > 2 * mutual_information(left, shuffled)


def log_income(people: pa.Table) -> np.ndarray:
    return np.log(numbers(people, "income") + 0.5)


def interaction(values: np.ndarray, first: np.ndarray, second: np.ndarray) -> float:
    """How much the effect of ``first`` differs between the two sides of ``second``: 0 for a sum of both."""
    mean = [[values[(first == i) & (second == j)].mean() for j in (False, True)] for i in (False, True)]
    return float((mean[1][1] - mean[1][0]) - (mean[0][1] - mean[0][0]))


def test_the_interaction_test_finds_none_in_a_sum():
    rng = np.random.default_rng(5)
    first, second = rng.integers(0, 2, (2, 50_000)).astype(bool)
    assert abs(interaction(first + 2 * second + rng.normal(size=50_000), first, second)) < 0.1


def test_income_is_not_separable(large):
    income = log_income(large)
    age, hours, occupation = (numbers(large, name) for name in ("age", "hours", "occupation"))
    rank = {label: position for position, (label, _) in enumerate(EDUCATIONS)}
    labels = large["education"].combine_chunks()
    education = np.array([rank[label] for label in labels.dictionary.to_pylist()])[labels.indices.to_numpy()]
    degree = education >= 14
    grown = ((age >= 22) & (age < 26)) | ((age >= 40) & (age < 60))
    assert interaction(income[grown], degree[grown], (age >= 40)[grown]) > 0.1
    broad = (occupation - 1000) // 50
    doctors_or_builders = (broad == 2) | (broad == 8)
    assert (
        interaction(income[doctors_or_builders], degree[doctors_or_builders], (broad == 2)[doctors_or_builders]) > 0.2
    )
    full_time = (hours >= 40) & ((broad == 0) | (broad == 9))
    assert interaction(income[full_time], (hours > 50)[full_time], (broad == 9)[full_time]) > 0.1


def test_income_rises_and_falls_with_age(large):
    age, income = numbers(large, "age"), numbers(large, "income")
    young, middle, old = (income[(age >= a) & (age < b)].mean() for a, b in ((17, 25), (40, 55), (75, 96)))
    assert young < old < middle


def test_hierarchies_cover_every_value(large):
    trees = census_hierarchies()
    assert set(trees) == set(large.column_names)
    for name, tree in trees.items():
        values = pc.unique(large[name].cast(pa.string()) if pa.types.is_dictionary(large[name].type) else large[name])
        assert tree.uncovered(write_values(values)) == []
        assert len(tree.leaves) == SIZES[name]
        assert len({row[-1] for row in tree.rows}) == 1
        assert tree.tree.n_leaves == SIZES[name]


def test_occupation_group_is_the_code_without_its_last_digit():
    by_group: dict[str, set[int]] = {}
    for code, group, _, _ in census_hierarchies()["occupation"].rows:
        by_group.setdefault(group, set()).add(int(code) // 10)
    assert len(by_group) == 50
    assert all(len(tens) == 1 for tens in by_group.values())


@pytest.mark.parametrize("hierarchies", [True, False])
@pytest.mark.parametrize("sensitive", ["income", "salary", "occupation"])
def test_schema_fits(demo, hierarchies, sensitive):
    table = Table.from_arrow(demo, census_schema(sensitive=sensitive, hierarchies=hierarchies))
    assert table.n_rows == demo.num_rows
    assert (table["age"].settings.hierarchy is not None) == hierarchies


def test_schema_with_occupation_as_quasi_identifier(demo):
    schema = census_schema(["age", "occupation"], "salary")
    column = Table.from_arrow(demo, schema)["occupation"]
    assert column.domain.kind == "categorical"
    assert column.settings.hierarchy is not None
