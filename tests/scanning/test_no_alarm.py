"""Nothing is found in releases of any method, whatever order their input is in: a few dozen of more than a thousand."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scanning_people import ILLS, crowd

import undercover as uc
from undercover.model.verdict import Exposure
from undercover.scanning.result import Scan

ROLES: dict[str, Any] = {
    "identifiers": ["who", "number"],
    "quasi_identifiers": ["age", "town"],
    "sensitive": "ill",
    "columns": {"ill": uc.Column(domain=ILLS)},
}
METHODS = [
    uc.Mondrian(k=5),
    uc.Mondrian(k=8, l=3, recoding="regions"),
    uc.Incognito(k=10),
    uc.Anatomy(l=4),
    uc.Streamliner(l=4),
    uc.MutualCover(delta="1/4", variant="blocks"),
    uc.MutualCover(l=4, variant="groups"),
    uc.MutualCover(l=3, delta="1/3", variant="paper", keep_order=True),
    uc.PerturbedGeneralization(k=6, p=0.3),
    uc.CrossBucket(k=5, l=4, joined=True),
]
ORDERS: dict[str, Callable[[pa.Table], pa.Table]] = {
    "by age": lambda data: data,
    "by illness": lambda data: data.sort_by("ill"),
    "backwards": lambda data: data.take(pa.array(range(data.num_rows - 1, -1, -1))),
}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    "method", METHODS, ids=lambda method: f"{method.name} {getattr(method, 'variant', '')}".strip()
)
def test_nothing_is_found(scanned: Callable[..., Scan], method: Any, order: str) -> None:
    run = uc.publish(ORDERS[order](crowd(160)), uc.Schema(**ROLES), method)
    if order == "by age":
        assert run.attacks  # what an attack is found to reach is looked at, too
    assert not (found := scanned(run)).leaks, found.sentence()
    assert found.looked[0].figures == {"values": 320}


def test_parts_and_files_of_office(scanned: Callable[..., Scan], tmp_path: Path) -> None:
    run = uc.publish(crowd(600), uc.Schema(**ROLES), uc.Mondrian(k=5), engine=uc.LocalEngine(parts=3))
    found = scanned(run, file_format="sav")
    assert not found.leaks, found.sentence()
    assert "not the order of rows: parts of the table follow each other" in found.sentence()


def test_what_the_release_says_of_identity_is_held_against_what_attacks_reach(scanned: Callable[..., Scan]) -> None:
    run = uc.publish(crowd(160), uc.Schema(**ROLES), uc.MutualCover(l=4, variant="groups"))
    assert run.attacks
    tests = [one.figures for one in scanned(run).looked if "promised" in one.figures]
    assert tests
    assert {figures["promised"] for figures in tests} == {0.25}
    assert all(figures["chance"] > 1e-6 and figures["level"] == 1e-6 for figures in tests)


def test_an_attack_that_reaches_more_than_is_promised_is_found(scanned: Callable[..., Scan]) -> None:
    run = uc.publish(crowd(600), uc.Schema(**ROLES), uc.MutualCover(l=4, variant="groups"))
    lucky = SimpleNamespace(exposures=lambda: (Exposure("nearest-row", run.rows.astype(np.int64), rate=0.6),))
    run.__dict__["attacks"] = (lucky,)
    assert [leak.text for leak in scanned(run).leaks] == ["`nearest-row` finds 60.0% of all rows; promised: 25.0%."]
