"""All subsets of what is known, gone through by splitting classes, against looking at every row anew for each."""

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from plain_profile import plain_posteriors, plain_profile

import undercover as uc
from dealing import SHAPES, Dealing
from undercover.attacks.partial.alike import Alike, Codes, subsets
from undercover.attacks.partial.profile import Profile, profile
from undercover.forms.boxes import Buckets
from undercover.forms.case import Case
from undercover.forms.dealt.law import Law, posteriors
from undercover.threads import however_little

KNOWN = ("age", "town", "job", "car")
SCHEMA = uc.Schema(quasi_identifiers=KNOWN, sensitive=["ill", "pay"], missing="category")
ONE = uc.Schema(quasi_identifiers=KNOWN, sensitive="ill", drop=["pay"], missing="category")
METHODS: dict[str, tuple[Any, uc.Schema]] = {
    **{f"dealt {shape}": (Dealing(shape=shape, l=None if shape == "blocks" else 4), ONE) for shape in SHAPES},
    "drawn": (uc.MutualCover(variant="paper", delta="1/3", l=3), ONE),
    "drawn from a range": (uc.MutualCover(variant="paper", delta="1/3", l=3, columns="integer_range"), ONE),
    "buckets": (uc.Anatomy(l=3), ONE),
    "generalised": (uc.Mondrian(k=3), SCHEMA),
    "generalised alike": (uc.Incognito(k=3), SCHEMA),
    "generalised buckets": (uc.CrossBucket(k=2, l=2), ONE),
}


def case_of(name: str, seed: int, n: int = 60) -> Case:
    """A table at random, published; towns are so rare that some are nobody's afterwards."""
    rng = np.random.default_rng((seed, 7))
    method, schema = METHODS[name]
    people = pa.table(
        {
            "age": rng.integers(20, 30, n),
            "town": [f"town {i}" for i in (rng.exponential(4, n)).astype(int)],
            "job": pa.array([("cook", "smith", "clerk", None)[i] for i in rng.integers(0, 4, n)], pa.string()),
            "car": rng.integers(0, 2, n),
            "ill": [("flu", "cold", "gout", "rash", "ulcer", "mumps")[i % 6] for i in rng.permutation(n)],
            "pay": rng.integers(1, 4, n) * 1000,
        }
    )
    return Case.of(uc.publish(people, schema, method, seed=seed))


def figures(found: Profile) -> dict[str, Any]:
    told = {"identity": found.identity, "matches": found.matches}
    told |= {f"belief {name}": each for name, each in found.attribute.items()}
    return told | {f"hit {name}": each for name, each in found.hits.items()}


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("name", METHODS)
def test_every_figure_is_that_of_looking_at_every_row_anew(name: str, seed: int) -> None:
    case = case_of(name, seed)
    for reading in (None, case.raw):
        own = {"own": case.own, "dealt": case.dealt} if reading is None else {}
        found = figures(profile(reading or case.reading, case.original, KNOWN, **own))
        expected = plain_profile(case, KNOWN, reading)
        assert found.keys() == expected.keys()
        for figure, values in expected.items():
            np.testing.assert_allclose(found[figure], values, rtol=1e-12, atol=1e-12, err_msg=figure)


@however_little()
@pytest.mark.parametrize("name", METHODS)
def test_no_figure_depends_on_the_threads(name: str) -> None:
    case = case_of(name, 3)
    one, three = (
        figures(profile(case.reading, case.original, KNOWN, own=case.own, dealt=case.dealt, threads=threads))
        for threads in (1, 3)
    )
    assert all(np.array_equal(one[figure], three[figure]) for figure in one)


@pytest.mark.parametrize("name", ["dealt layers", "drawn"])
def test_looking_anew_notices_rows_that_are_taken_for_others(name: str) -> None:
    case = case_of(name, 4)
    own, dealt = np.roll(case.own, 1), case.dealt
    other = None if dealt is None else replace(dealt, groups=np.roll(dealt.groups, 1))
    found = profile(case.reading, case.original, KNOWN, own=own, dealt=other)
    assert np.abs(found.identity - plain_profile(case, KNOWN)["identity"]).max() > 0.01


def test_classes_are_those_who_are_alike_in_every_subset() -> None:
    rng = np.random.default_rng(5)
    rows, people, sizes = rng.integers(-1, 4, (40, 3)), rng.integers(0, 4, (25, 3)), [4, 4, 4]
    rows[:5, 0] = 4  # behind the codes of the column, as -1 before them: nobody's
    begin, codes = Alike.in_nothing(40, 25), Codes.of(rows, people, sizes)
    for with_first in (True, False):
        found = list(subsets([begin], [codes], with_first=with_first))
        wanted = [each for size in range(4) for each in combinations(range(3), size) if (0 in each) == with_first]
        assert sorted(size for size, _ in found) == [len(subset) for subset in wanted]
        by_size = [alike for _, (alike,) in sorted(found, key=lambda one: one[0])]
        for subset, alike in zip(wanted, by_size, strict=True):
            columns = list(subset)
            for members, person in zip(classes(alike), people[alike.people[alike.person_starts[:-1]]], strict=True):
                assert members[0] == np.flatnonzero((rows[:, columns] == person[columns]).all(axis=1)).tolist()
                assert members[1] == np.flatnonzero((people[:, columns] == person[columns]).all(axis=1)).tolist()
            here = [(rows[:, columns] == person[columns]).all(axis=1).any() for person in people]
            assert sorted(alike.people.tolist()) == np.flatnonzero(here).tolist()


def classes(alike: Alike) -> list[tuple[list[int], list[int]]]:
    return [
        (alike.rows[slice(*of_rows)].tolist(), alike.people[slice(*of_people)].tolist())
        for of_rows, of_people in zip(
            zip(alike.row_starts[:-1], alike.row_starts[1:], strict=True),
            zip(alike.person_starts[:-1], alike.person_starts[1:], strict=True),
            strict=True,
        )
    ]


def test_subsets_that_nobody_fits_are_not_gone_through() -> None:
    codes = Codes.of(np.array([[0, 0, 0]]), np.array([[1, 0, 0]]), [2, 1, 1])
    begin = Alike.in_nothing(1, 1)
    assert [size for size, _ in subsets([begin], [codes], with_first=True)] == [1]
    assert [size for size, _ in subsets([begin], [codes], with_first=False)] == [0, 1, 2, 1]


@pytest.mark.parametrize("seed", range(40))
def test_posteriors_by_a_law_are_those_of_sorting(seed: int) -> None:
    rng = np.random.default_rng((seed, 11))
    n_boxes, n_values, n_targets = 14, 6, 8
    entries = rng.integers(1, 4, n_boxes)
    starts = np.append(0, np.cumsum(entries))
    values = np.concatenate([rng.choice(n_values - 1, k, replace=False) for k in entries])  # one is never shown
    counts = rng.integers(1, 4, starts[-1]).astype(float)
    sizes = np.add.reduceat(counts, starts[:-1])
    buckets = Buckets(sizes, np.arange(n_boxes), starts, values, counts, sizes, n_values)
    offsets = np.append(0, np.cumsum(rng.integers(0, 5, n_targets)))
    members = rng.integers(0, n_boxes, offsets[-1])
    target_of, truth = np.sort(rng.integers(0, n_targets, 50)), rng.integers(0, n_values, 50)
    law = Law.of(int(rng.integers(2, 5)), rng.integers(1, 4, n_values))
    found = posteriors(law, offsets, members, buckets, target_of, truth)
    expected = plain_posteriors(law, offsets, members, buckets, target_of, truth)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    assert expected[1].max() > 0
