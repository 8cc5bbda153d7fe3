from dataclasses import replace

import pyarrow as pa
import pytest

import undercover as uc
from undercover.pages.samples import samples_of, samples_view

DECADES = uc.Hierarchy([(str(age), f"{age // 10}0s", "*") for age in range(10, 100)])
PEOPLE = pa.table(
    {
        "name": [f"Annabella {place}" for place in range(11)],
        "age": [20, 21, 22, 23, 24, 25, 71, 30, 31, 32, 33],
        "ill": [f"secret {place % 3}" for place in range(11)],
    }
)
SCHEMA = uc.Schema(
    quasi_identifiers=["age"], sensitive="ill", identifiers=["name"], columns={"age": uc.Column(hierarchy=DECADES)}
)
CENSUS, AGE_AND_SEX = uc.datasets.census(300, seed=4), uc.Schema(quasi_identifiers=["age", "sex"], sensitive="income")


def cells(view):
    return [[cell if isinstance(cell, str) else cell.value for cell in row] for row in view.parts[-1].rows]


def test_rows_stand_beside_their_cells_and_suppressed_ones_are_told():
    run = uc.publish(PEOPLE, SCHEMA, uc.Incognito(k=3, suppression=0.2), seed=1, policy="none")
    shown = cells(samples_view(samples_of(run)))
    assert [row[0] for row in shown] == [0, 1, 2, 3, 4, 5, 6, 7, 8, 10]
    assert shown[0] == [0, "20 → 20s", 6]
    assert shown[6] == [6, "71 → not published", 0]
    assert shown[9] == [10, "33 → 30s", 4]


def test_neither_sensitive_values_nor_identifiers_are_shown():
    found = samples_of(uc.publish(PEOPLE, SCHEMA, uc.Mondrian(k=2), seed=1, policy="none"))
    assert len(found["rows"]) == 10
    assert not any(secret in str(found) for secret in ("secret", "Annabella"))


@pytest.mark.parametrize("method", [uc.Mondrian(k=5), uc.Streamliner(l=3)], ids=["apart", "overlapping"])
def test_cells_are_those_of_the_group(method):
    run = uc.publish(CENSUS, AGE_AND_SEX, method, seed=1, policy="none")
    ages = CENSUS.column("age").to_pylist()
    for one in samples_of(run)["rows"]:
        together = [ages[row] for row in run.rows[run.groups.labels == run.groups.labels[one["row"]]]]
        low, high = min(together), max(together)
        assert one["before"]["age"] == str(ages[one["row"]])
        assert one["after"]["age"] == (str(low) if low == high else f"[{low}, {high}]")


def test_buckets_keep_values_and_drawn_rows_are_the_persons_own(make_anatomy):
    kept = samples_of(make_anatomy())["rows"]
    assert all(one["before"] == one["after"] for one in kept)
    run = uc.publish(CENSUS, AGE_AND_SEX, uc.MutualCover(delta=0.2, l=3), seed=1, policy="none")
    published = run.release.tables[0].data.select(["age", "sex"]).to_pylist()
    frame = run.frames["published_rows"].to_pydict()
    places = dict(zip(frame["row"], frame["cells"], strict=True))
    for one in samples_of(run)["rows"]:
        assert one["after"] == {name: str(value) for name, value in published[places[one["row"]]].items()}


def test_without_the_original_nothing_is_shown(make_run):
    (said,) = samples_view(samples_of(replace(make_run(), original=None))).parts
    assert "not at hand" in said


def test_long_cells_are_cut_on_the_page_alone():
    one = {"row": 3, "before": {"town": "Ulm"}, "after": {"town": "{" + "Ulm, " * 30 + "Bonn}"}, "alike": 2}
    (shown,) = cells(samples_view({"rows": [one], "note": ""}))
    assert shown[1].startswith("Ulm → {Ulm, Ulm")
    assert shown[1].endswith("…")
    assert len(shown[1]) < 50
