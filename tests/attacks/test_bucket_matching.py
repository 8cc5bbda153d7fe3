"""Bucket matching against a double loop over people and published rows, in fractions."""

from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import undercover as uc
from undercover.errors import ParameterError
from undercover.forms import read
from undercover.forms.boxes import boxes_of, merged_boxes
from undercover.forms.disclosure import disclosure_of, distinct_rows
from undercover.model.cells import read_interval, read_set

EIGHT = uc.datasets.hospital("cross-bucket")


def covers(cell: str, value: Any) -> bool:
    """Whether a published cell of a number or a category stands for a value."""
    text = "" if value is None else str(value)
    if cell == "*":
        return True
    if cell is None:
        return text == ""
    if cell[:1] == "[":
        low, high = read_interval(cell)
        return text != "" and float(low) <= float(text) <= float(high)
    return text in read_set(cell)


def by_hand(people: list[dict[str, Any]], release: Any, known: tuple[str, ...], sensitive: str) -> Any:
    """Rows, buckets and p(t, s) of every person by the formula of Section 4.1."""
    qit, sat = (release.published(name).data.to_pylist() for name in ("qit", "sat"))
    sizes: dict[int, int] = {}
    for line in sat:
        sizes[line["bucket"]] = sizes.get(line["bucket"], 0) + line["count"]
    found = []
    for person in people:
        fitting = [row for row in qit if all(covers(row[name], person[name]) for name in known)]
        share = missing = Fraction(0)
        for bucket in {row["bucket"] for row in fitting}:
            inside = sum(row["bucket"] == bucket for row in fitting)
            with_value = sum(
                line["count"] for line in sat if line["bucket"] == bucket and line[sensitive] == person[sensitive]
            )
            share += Fraction(inside * with_value, len(fitting) * sizes[bucket])
            without = sum(line["count"] for line in sat if line["bucket"] == bucket and line[sensitive] is None)
            missing += Fraction(inside * without, len(fitting) * sizes[bucket])
        share /= 1 if person[sensitive] is None else 1 - missing  # asked among those who have a value
        found.append((len(fitting), len({row["bucket"] for row in fitting}), share))
    return found


@pytest.mark.parametrize("seed", range(4))
def test_the_eight_patients_by_hand(seed: int) -> None:
    run = uc.publish(EIGHT.table, EIGHT.schema, uc.CrossBucket(k=2, l=4), seed=seed)
    found = uc.attack(run, uc.BucketMatching())
    expected = by_hand(EIGHT.table.to_pylist(), run.release, ("age", "sex", "zip_code"), "disease")
    assert found.matches.tolist() == [rows for rows, _, _ in expected]
    assert found.buckets.tolist() == [buckets for _, buckets, _ in expected]
    assert found.breach["disease"] == pytest.approx([float(share) for _, _, share in expected], abs=1e-12)
    assert max(share for _, _, share in expected) <= Fraction(1, 4)


@pytest.mark.parametrize("known", [None, ("age",), ("job", "age")])
@pytest.mark.parametrize("missing", [False, True])
def test_random_people_by_hand(known: tuple[str, ...] | None, missing: bool) -> None:
    rng = np.random.default_rng(5)
    n = 60
    data = {
        "age": rng.integers(20, 32, n).tolist(),
        "job": [("cook", "smith", "clerk", "judge")[i] for i in rng.integers(0, 4, n)],
        "ill": [f"s{i % 8}" for i in rng.permutation(n)],
    }
    if missing:
        data["age"][3] = data["job"][7] = data["job"][8] = data["ill"][9] = None
    people = pa.table(data)
    schema = uc.Schema(quasi_identifiers=["age", "job"], sensitive="ill", missing="category")
    run = uc.publish(people, schema, uc.CrossBucket(k=2, l=4))
    found = uc.attack(run, uc.BucketMatching(known=known))
    expected = by_hand(people.to_pylist(), run.release, known or ("age", "job"), "ill")
    assert found.matches.tolist() == [rows for rows, _, _ in expected]
    assert found.buckets.tolist() == [buckets for _, buckets, _ in expected]
    assert found.breach["ill"] == pytest.approx([float(share) for _, _, share in expected], abs=1e-12)


@pytest.mark.parametrize("method", [uc.Mondrian(k=3, l=3), uc.Anatomy(l=4), uc.CrossBucket(k=3, l=4)], ids=repr)
def test_it_gives_what_linkage_gives(method: Any) -> None:
    schema = uc.datasets.census_schema(["age", "sex", "education"], "salary", hierarchies=False)
    run = uc.publish(uc.datasets.census(600, seed=3), schema, method)
    found, linked = uc.attack(run, uc.BucketMatching()), uc.attack(run)
    assert found.matches.tolist() == linked.after.matches.tolist()
    assert found.breach["salary"] == pytest.approx(linked.after.attribute["salary"])
    figures = found.to_dict()
    assert figures["breach"]["salary"]["max"] <= 1 / method.l + 1e-12
    assert figures["breach"]["salary"]["above"]["0.5"] == 0
    assert figures["baseline"]["salary"] < figures["breach"]["salary"]["mean"]
    assert "at worst" in repr(found)


def test_a_release_that_breaks_the_promise_is_seen() -> None:
    # Buckets of one row each: everybody's value is known.
    run = uc.publish(EIGHT.table, EIGHT.schema, uc.CrossBucket(k=1, l=1), seed=1)
    assert uc.attack(run, uc.BucketMatching()).breach["disease"].max() == 1


def test_bad_input() -> None:
    run = uc.publish(EIGHT.table, EIGHT.schema, uc.CrossBucket(k=2, l=4))
    with pytest.raises(ParameterError, match="Known column `agee` is not known"):
        uc.attack(run, uc.BucketMatching(known=("agee",)))


@pytest.mark.parametrize("k", [2, 5, 10])
def test_merged_boxes_say_what_pairs_of_boxes_and_buckets_say(k: int) -> None:
    names = ("age", "sex", "education")
    schema = uc.datasets.census_schema(names, "salary", hierarchies=True)
    run = uc.publish(uc.datasets.census(500, seed=8), schema, uc.CrossBucket(k=k, l=6))
    table = run.original
    target_of, targets = distinct_rows(np.stack([table[name].codes for name in names], axis=1).astype(np.int64))
    merged = merged_boxes(read(run.release), table, names, ("salary",))
    one = disclosure_of(merged.boxes, table, target_of, targets, 1)
    other = disclosure_of(boxes_of(read(run.release), table, names, ("salary",)), table, target_of, targets, 1)
    assert one.matches.tolist() == other.matches.tolist()
    assert one.attribute["salary"] == pytest.approx(other.attribute["salary"])
    assert one.hits["salary"] == pytest.approx(other.hits["salary"])
    assert len(merged.boxes.weights) < len(boxes_of(read(run.release), table, names, ("salary",)).weights)
