"""Looking for people by going through all rows, in small pieces, against the boxes of the release."""

from __future__ import annotations

import numpy as np
import pytest

import undercover as uc
from undercover.attacks.people import Targets
from undercover.forms.case import Case
from undercover.forms.looking import rows
from undercover.forms.looking.rows import look_for, published_rows, rows_of

KNOWN = ("age", "sex", "education")
METHODS = {
    "mondrian": uc.Mondrian(k=4),
    "wrap": uc.Streamliner(l=2),
    "anatomy": uc.Anatomy(l=2),
    "cross-bucket": uc.CrossBucket(k=3, l=2),
    "cover": uc.MutualCover(delta="1/2", l=2),
}


@pytest.fixture(scope="module", params=METHODS)
def case(request: pytest.FixtureRequest) -> Case:
    schema = uc.datasets.census_schema(list(KNOWN), "relationship", hierarchies=False)
    return Case.of(uc.publish(uc.datasets.census(700, seed=3), schema, METHODS[request.param], seed=1))


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many chunks of rows, people and pairs, so that none of them is the last one."""
    for name, size in {"CHUNK": 100, "_AT_ONCE": 300, "_MOST_COUNTS": 300, "_ROOM": 400}.items():
        monkeypatch.setattr(rows, name, size)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("known", [KNOWN, KNOWN[:2]], ids=["all columns", "some columns"])
def test_everybody_is_found_as_among_boxes(case: Case, known: tuple[str, ...]) -> None:
    asked = Targets.of(case.original, known, None, 2)
    for boxes, shown in (
        (asked.disclosure(case.reading), published_rows(case.reading, case.original, known)),
        (asked.disclosure(case.raw), rows_of(case.original, known)),
    ):
        found = look_for(shown, case.original, asked.target_of, asked.targets, 2)
        np.testing.assert_array_equal(found.matches, boxes.matches)
        for name in ("relationship",):
            np.testing.assert_allclose(found.attribute[name], boxes.attribute[name], atol=1e-12)
            np.testing.assert_allclose(found.hits[name], boxes.hits[name], atol=1e-12)


def test_who_is_not_there_fits_nothing(case: Case) -> None:
    """A planted stranger: somebody with values of several people, whom no row of the original equals."""
    shown = rows_of(case.original, KNOWN)
    codes = np.stack([case.original[name].codes for name in KNOWN], axis=1).astype(np.int64)
    there = {tuple(row) for row in codes.tolist()}
    stranger = next(pair for a in codes.tolist() for b in codes.tolist() if (pair := (a[0], b[1], b[2])) not in there)
    found = look_for(shown, case.original.take(np.array([0])), np.array([0]), np.array([stranger]), 1)
    assert found.matches.tolist() == [0]
    assert found.identity.tolist() == found.attribute["relationship"].tolist() == [0.0]
