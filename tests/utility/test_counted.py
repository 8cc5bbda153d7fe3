"""What is measured of large releases by going through their rows, against reading them at once."""

from __future__ import annotations

import numpy as np
import pytest

import undercover as uc
from undercover.forms import read
from undercover.forms.looking import counting, rows
from undercover.model.run import Run
from undercover.utility.binned_tables import counted_tables, tables_of

QUASI = ["age", "sex", "education"]
METHODS = {
    "mondrian": uc.Mondrian(k=5),
    "wrap": uc.Streamliner(l=2),
    "anatomy": uc.Anatomy(l=2),
    "cross-bucket": uc.CrossBucket(k=3, l=2),
    "cover": uc.MutualCover(delta="1/2", l=2),
    "paper": uc.MutualCover(delta="1/2", l=2, variant="paper"),
}


@pytest.fixture(scope="module", params=METHODS)
def run(request: pytest.FixtureRequest) -> Run:
    schema = uc.datasets.census_schema(QUASI, "relationship", hierarchies=request.param != "wrap")
    return uc.publish(uc.datasets.census(1500, seed=3), schema, METHODS[request.param], seed=1)


@pytest.mark.parametrize("most", [counting._MOST_COUNTS, 0])
def test_tables_are_those_of_estimates(run: Run, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "_MOST_COUNTS", most)
    monkeypatch.setattr(counting, "_MOST_PAIRS", 2 * most)
    monkeypatch.setattr(counting, "_AT_ONCE", 1 << 15 if most else 77)
    reading = read(run.release)
    whole, counted = tables_of(run.original, reading.estimates(run.original)), counted_tables(run.original, reading, 2)
    assert list(counted.columns) == list(whole.columns)
    assert list(counted.pairs) == list(whole.pairs)
    for name, column in whole.columns.items():
        assert counted.columns[name].labels == column.labels
        np.testing.assert_array_equal(counted.columns[name].before, column.before)
        np.testing.assert_allclose(counted.columns[name].after, column.after)
    for pair, (before, after) in whole.pairs.items():
        np.testing.assert_array_equal(counted.pairs[pair][0], before)
        np.testing.assert_allclose(counted.pairs[pair][1], after, atol=1e-9)


@pytest.mark.parametrize("most", [counting._MOST_COUNTS, 0])
def test_queries_have_the_same_answers(run: Run, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "_MOST_COUNTS", most)
    monkeypatch.setattr(rows, "CHUNK", rows.CHUNK if most else 170)
    assert run.original is not None
    sets = (("age",), ("sex",), tuple(QUASI), ("education", "age"))
    asked = uc.QueryError(quasi_identifiers=sets, queries=60)
    whole = asked.of_release(run.original, run.release)
    counted = asked._of_many(run.original, run.release, sets, "relationship")
    assert list(counted) == list(whole)
    for names, found in whole.items():
        np.testing.assert_array_equal(counted[names].exact, found.exact)
        np.testing.assert_allclose(counted[names].estimated, found.estimated, atol=1e-9)
