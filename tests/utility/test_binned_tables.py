import numpy as np
import pyarrow as pa

import undercover as uc
from undercover.utility.binned_tables import binned_tables
from undercover.utility.queries.counts import about_each


def made(people, schema, method):
    run = uc.publish(people, schema, method, seed=5)
    return binned_tables(run.original, run.release)


def test_bins_are_named_by_value_by_range_and_by_how_many_they_are():
    draw = np.random.default_rng(0)
    numbers = np.concatenate([np.repeat(np.arange(100), 6), [None]])
    towns = [f"town {n}" for n in np.minimum(draw.geometric(0.03, 600), 70)] + ["town 1"]
    people = pa.table({"age": numbers, "town": towns, "ill": (["flu", "cold", "gout"] * 201)[:601]})
    schema = uc.Schema(quasi_identifiers=["age", "town"], sensitive="ill", missing="category")
    found = made(people, schema, uc.Mondrian(k=1)).columns
    assert found["age"].labels[:2] == ("0 to 4", "5 to 9")
    assert found["age"].labels[-1] == "missing"
    assert found["age"].before.tolist() == [30] * 20 + [1]
    assert found["town"].labels[-1].endswith(" others")
    assert len(found["town"].labels) == 50
    assert sorted(found["ill"].labels) == ["cold", "flu", "gout"]


def test_pairs_add_up_to_their_columns():
    schema = uc.Schema(quasi_identifiers=["age", "education", "sex"], sensitive=["income"])
    for method in (uc.Mondrian(k=20), uc.Anatomy(l=3), uc.MutualCover(variant="paper", delta="1/3", l=3)):
        tables = made(uc.datasets.census(600), schema, method)
        for (a, b), (before, after) in tables.pairs.items():
            assert before.sum(axis=1).tolist() == tables.columns[a].before.tolist()
            assert before.sum(axis=0).tolist() == tables.columns[b].before.tolist()
            np.testing.assert_allclose(after.sum(axis=1), tables.columns[a].after, atol=1e-6)
            np.testing.assert_allclose(after.sum(axis=0), tables.columns[b].after, atol=1e-6)


def test_a_release_as_it_was_is_what_it_was():
    schema = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="income")
    tables = made(uc.datasets.census(300), schema, uc.Mondrian(k=1))
    for column in tables.columns.values():
        np.testing.assert_allclose(column.after, column.before)


def test_where_no_sensitive_value_was_kept_people_are_counted_all_the_same():
    people = uc.datasets.census(400)
    schema = uc.datasets.census_schema(["age", "sex"])
    tables = made(people, schema, uc.PerturbedGeneralization(k=4, p=0))
    assert sorted(tables.columns) == ["age", "sex"]
    assert tables.columns["age"].after.sum() == 400
    run = uc.publish(people, schema, uc.PerturbedGeneralization(k=4, p=0), seed=1)
    assert about_each(run.release) == ()
