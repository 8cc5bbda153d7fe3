from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from plain_marginals import plain_distances

import undercover as uc
from undercover.forms import read
from undercover.forms.looking import counting
from undercover.model.form import Buckets, Drawn
from undercover.model.release import PublishedColumn, PublishedTable, Release
from undercover.model.table import Table
from undercover.utility.binned_tables import bins_of
from undercover.utility.kept import Distances, distances_of

AGE, SEX = PublishedColumn("age", "quasi-identifier", "interval"), PublishedColumn("sex", "quasi-identifier", "set")
ILL = PublishedColumn("ill", "sensitive", "value")
BUCKET, COUNT = PublishedColumn("bucket", "structure", "value"), PublishedColumn("count", "structure", "value")
DOMAIN = ("angina", "cold", "flu", "gout", "rash")

FORMS = {
    "mondrian": uc.Mondrian(k=4),
    "anatomy": uc.Anatomy(l=2),
    "streamliner": uc.Streamliner(l=2),
    "mutual cover": uc.MutualCover(variant="paper", delta="1/2", l=2),
    "mutual cover over ranges": uc.MutualCover(variant="paper", delta="1/2", l=2, columns="integer_range"),
    "perturbed": uc.PerturbedGeneralization(k=4, p=0.5),
    "cross-bucket": uc.CrossBucket(k=2, l=2),
}


def distances(original: Table, release: Release) -> Distances:
    return distances_of(original, read(release).estimates(original))


def small_table(rows=60, seed=3):
    draw = np.random.default_rng(seed)
    data = pa.table(
        {
            "age": 20 + draw.integers(0, 8, rows),
            "sex": draw.choice(["F", "M", "X"], rows),
            "ill": draw.choice(DOMAIN[:4], rows),
        }
    )
    schema = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="ill", columns={"ill": uc.Column(domain=DOMAIN)})
    return data, schema


def test_two_tables_by_hand():
    people = pa.table({"age": [20, 20, 30, 30], "ill": ["flu", "cold", "flu", "cold"]})
    original = Table.from_arrow(people, uc.Schema(quasi_identifiers=["age"], sensitive="ill"))
    qit = PublishedTable("qit", (AGE, BUCKET), pa.table({"age": ["20", "20", "30", "30"], "bucket": [0, 1, 0, 1]}))
    # Bucket 0: two flus. Bucket 1: two colds. Age 20 is in both, so it is half flu, as it is in truth.
    values = pa.table({"bucket": [0, 1], "ill": ["flu", "cold"], "count": [2, 2]})
    found = distances(
        original,
        Release("anatomy", {}, (qit, PublishedTable("sat", (BUCKET, ILL, COUNT), values)), True, form=Buckets()),
    )
    assert found.columns == {"age": 0.0, "ill": 0.0}
    assert found.pairs == {("age", "ill"): 0.0}
    # All 20s in bucket 0 and all 30s in bucket 1: flu belongs to 20, and half of everybody is in the wrong place.
    apart = replace(qit, data=pa.table({"age": ["20", "20", "30", "30"], "bucket": [0, 0, 1, 1]}))
    found = distances(
        original,
        Release("anatomy", {}, (apart, PublishedTable("sat", (BUCKET, ILL, COUNT), values)), True, form=Buckets()),
    )
    assert found.columns["ill"] == 0.0
    assert found.pairs["age", "ill"] == pytest.approx(0.5)


def test_suppressed_values_show():
    people = pa.table({"age": [20, 20, 30, 30], "ill": ["flu", "cold", "flu", "cold"]})
    original = Table.from_arrow(people, uc.Schema(quasi_identifiers=["age"], sensitive="ill"))
    data = pa.table({"age": ["20", "20"], "ill": ["flu", "cold"]})
    release = Release("incognito", {}, (PublishedTable("table", (AGE, ILL), data),), True, suppressed_rows=2)
    assert distances(original, release).columns == {"age": 0.5, "ill": 0.0}


def test_a_column_that_is_not_published_may_be_anything():
    people = pa.table({"age": [20, 20, 20, 30], "sex": ["F", "F", "M", "M"], "ill": ["flu"] * 4})
    original = Table.from_arrow(people, uc.Schema(quasi_identifiers=["age", "sex"], sensitive="ill"))
    data = pa.table({"sex": ["F", "F", "M", "M"], "ill": ["flu"] * 4})
    release = Release("noncentralized", {}, (PublishedTable("table", (SEX, ILL), data),), False)
    assert distances(original, release).columns == {"sex": 0.0, "age": 0.25, "ill": 0.0}


def test_without_a_sensitive_column():
    people = pa.table({"age": [20, 20, 20, 30], "sex": ["F", "F", "M", "M"]})
    original = Table.from_arrow(people, uc.Schema(quasi_identifiers=["age", "sex"]))
    data = pa.table({"age": ["[20, 30]"] * 4, "sex": ["F", "F", "M", "M"]})
    found = distances(original, Release("mondrian", {}, (PublishedTable("table", (AGE, SEX), data),), True))
    assert found.columns == {"age": 0.25, "sex": 0.0}
    assert list(found.pairs) == [("age", "sex")]


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("largest", [counting._MOST_COUNTS, 0])
def test_every_form_against_plain_loops(name, largest, monkeypatch):
    monkeypatch.setattr(counting, "_MOST_COUNTS", largest)
    monkeypatch.setattr(counting, "_AT_ONCE", 7)
    data, schema = small_table()
    run = uc.publish(data, schema, FORMS[name], seed=5)
    found = distances(run.original, run.release)
    plain = plain_distances(run.original, run.release)
    everything = {**found.columns, **found.pairs}
    assert everything.keys() == plain.keys()
    for key, value in everything.items():
        assert value == pytest.approx(plain[key], abs=1e-12), key


def test_a_planted_fault_is_seen_by_the_plain_loops():
    data, schema = small_table()
    run = uc.publish(data, schema, uc.Mondrian(k=4), seed=5)
    table = run.release.published()
    shifted = table.data.set_column(2, "ill", pa.chunked_array([table.data["ill"].to_pylist()[::-1]]))
    release = replace(run.release, tables=(replace(table, data=shifted),))
    assert distances(run.original, run.release).pairs != plain_distances(run.original, release)
    assert distances(run.original, release).pairs["age", "ill"] != pytest.approx(
        plain_distances(run.original, run.release)["age", "ill"], abs=1e-6
    )


def test_what_is_published_unchanged_has_no_distance():
    people, schema = uc.datasets.census(2000, seed=2), uc.datasets.census_schema(hierarchies=False)
    run = uc.publish(people, schema, uc.Mondrian(k=1), seed=1)
    exact = uc.publish(people, schema, uc.Anatomy(l=2), seed=1)
    assert distances(exact.original, exact.release).columns == pytest.approx(dict.fromkeys(
        (*schema.quasi_identifiers, "income"), 0.0), abs=1e-12)  # fmt: skip
    assert distances(run.original, run.release).mean < 0.05
    assert distances(exact.original, exact.release).columns["income"] == 0.0  # no rounding left


def test_coarser_is_farther():
    people, schema = uc.datasets.census(3000, seed=2), uc.datasets.census_schema()
    near, far = (uc.publish(people, schema, uc.Mondrian(k=k), seed=1) for k in (5, 200))
    first, second = (distances(run.original, run.release) for run in (near, far))
    assert first.mean < second.mean
    assert first.pair_mean < second.pair_mean
    assert set(first.to_dict()["pairs"]["each"]) >= {"age × sex", "age × income"}


def test_a_number_drawn_that_nobody_has_counts_as_the_nearest():
    people = pa.table({"age": [20, 20, 30, 30], "ill": ["flu", "cold", "flu", "cold"]})
    original = Table.from_arrow(people, uc.Schema(quasi_identifiers=["age"], sensitive="ill"))
    age = PublishedColumn("age", "quasi-identifier", "value")
    data = pa.table({"age": [21, 24, 26, 29], "ill": ["flu", "cold", "flu", "cold"]})
    found = distances(
        original, Release("mutual-cover", {}, (PublishedTable("table", (age, ILL), data),), False, form=Drawn())
    )
    assert found.columns == {"age": 0.0, "ill": 0.0}


def test_missing_values_and_many_categories_are_bins_of_their_own():
    counts = np.array([4, 1, 0, 3, 2])
    assert bins_of("numeric", counts, ranges=2, categories=2, missing=True).tolist() == [0, 1, 1, 1, 2]
    assert bins_of("categorical", counts, ranges=9, categories=3).tolist() == [0, 2, 2, 1, 2]


def test_values_nobody_has_do_not_move_the_bins_of_others():
    counts = np.array([3, 1, 4, 1, 5, 9, 2, 6])
    for kind in ("numeric", "categorical", "ordinal"):
        with_holes = np.zeros(2 * len(counts), dtype=np.int64)
        with_holes[::2] = counts
        alone = bins_of(kind, counts, ranges=3, categories=3)
        between = bins_of(kind, with_holes, ranges=3, categories=3)[::2]
        pairs = set(zip(alone.tolist(), between.tolist(), strict=True))
        assert len({a for a, _ in pairs}) == len({b for _, b in pairs}) == len(pairs)
