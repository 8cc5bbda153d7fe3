"""The judge of ``benchmarks/peers``: he finds what was planted, and his loss is the one of the program."""

from __future__ import annotations

import csv
import io
import os
import sys
from collections import Counter
from pathlib import Path

import pyarrow.csv
import pytest
from benchmarks.peers.judge import Domain, Judged, judge
from benchmarks.peers.run import limited
from benchmarks.peers.tables import SENSITIVE, census, hierarchies

import undercover as uc
from undercover.model.hierarchy import Hierarchy
from undercover.model.schema import Column

AGES = [(str(age), f"[{age - age % 5}, {age - age % 5 + 4}]", "*") for age in range(17, 22)]
TOWNS = [("town_0_0", "town_1_0", "*"), ("town_0_1", "town_1_0", "*"), ("town_0_2", "town_1_1", "*")]
TREES = {"age": AGES, "town": TOWNS}
KEPT = [("17-19", "town_0_0,town_0_1", ill) for ill in ("flu", "gout", "flu")]
BEFORE = Counter(flu=2, gout=1)


def judged(rows: list[tuple[str, ...]], before: Counter[str] = BEFORE, names: str = "age town ill") -> Judged:
    return judge([dict(zip(names.split(), row, strict=True)) for row in rows], before, TREES, "ill")


@pytest.mark.parametrize(
    ("cell", "leaves"),
    [
        ("17", 1),
        ("17.0", 1),
        ("17-19", 3),
        ("17 - 19", 3),
        ("[17, 19]", 3),
        ("[15, 19]", 3),
        ("[20, 24]", 2),
        ("*", 5),
        ("", 5),
    ],
)
def test_a_range_of_numbers_stands_for_those_there_are(cell: str, leaves: int) -> None:
    assert Domain(AGES).covered(cell) == leaves


@pytest.mark.parametrize(
    ("cell", "leaves"),
    [
        ("town_0_2", 1),
        ("town_1_0", 2),
        ("town_0_0,town_0_2", 2),
        ("town_0_0-town_0_2", 2),
        ("{town_0_0, town_0_1, town_0_2}", 3),
        ("*", 3),
    ],
)
def test_a_set_stands_for_its_members_however_it_is_written(cell: str, leaves: int) -> None:
    assert Domain(TOWNS).covered(cell) == leaves


def test_a_value_nobody_has_is_an_error_and_no_loss() -> None:
    with pytest.raises(KeyError):
        Domain(TOWNS).covered("village")


def test_loss_by_hand() -> None:
    assert judged(KEPT) == Judged(rows=3, k=3, l=2, loss=(2 / 4 + 1 / 2) / 2, invented=0)
    # A fourth row was left out: it lost both its cells.
    assert judged(KEPT, BEFORE + Counter(flu=1)).loss == pytest.approx((3 * (1 / 2 + 1 / 2) + 2) / 8)


def test_lines_that_stand_for_several_rows() -> None:
    lines = [("17-19", "town_0_0,town_0_1", "flu", "2"), ("17-19", "town_0_0,town_0_1", "gout", "1")]
    assert judged(lines, names="age town ill count") == judged(KEPT)


@pytest.mark.parametrize(
    "planted",
    [
        [*KEPT[:2], ("18-19", *KEPT[2][1:])],  # a class of two and one of one
        [*KEPT[:1], ("17-19", "town_0_0,town_0_1", "flu"), KEPT[2]],  # one value only, and more of it than there was
        [*KEPT, KEPT[0]],  # somebody who was not in the table
        [],
    ],
)
def test_false_outputs_are_refused(planted: list[tuple[str, ...]]) -> None:
    assert judged(KEPT).keeps(3, 2)
    assert not judged(planted).keeps(3, 2)


def test_l_and_k_are_refused_each_for_itself() -> None:
    assert judged(KEPT).keeps(3, None)
    assert not judged(KEPT).keeps(4, None)
    assert not judged(KEPT).keeps(3, 3)


@pytest.mark.parametrize("method", [uc.Mondrian(k=10), uc.Incognito(k=10, suppression=0.1)], ids=lambda m: m.name)
def test_the_loss_is_the_loss_of_detail_that_measure_tells(method: uc.Mondrian | uc.Incognito) -> None:
    people, trees = census(400), hierarchies()
    columns = {name: Column(hierarchy=Hierarchy(rows)) for name, rows in trees.items()}
    run = uc.publish(people, uc.Schema(quasi_identifiers=list(trees), sensitive=SENSITIVE, columns=columns), method)
    written = io.BytesIO()
    pyarrow.csv.write_csv(run.release.table(), written)
    before = Counter(map(str, people.column(SENSITIVE).to_pylist()))
    found = judge(csv.DictReader(io.StringIO(written.getvalue().decode())), before, trees, SENSITIVE)
    assert found.keeps(10, None)
    assert found.loss == pytest.approx(uc.measure(people, run).to_dict()["loss"]["arx"]["arithmetic"])


@pytest.mark.parametrize(
    ("code", "outcome"),
    [
        ("print('done')", "finished"),
        ("import time; time.sleep(60)", "stopped after 0 s"),
        ("raise SystemExit('no such column')", "failed: no such column"),
        ("bytearray(2 << 30)", "failed: MemoryError"),
    ],
)
def test_a_run_ends_by_itself_or_at_its_limits(code: str, outcome: str, tmp_path: Path) -> None:
    seconds = 0.3 if "sleep" in code else 30.0
    found = limited([sys.executable, "-S", "-c", code], seconds, 1.0, tmp_path / "log", dict(os.environ))
    assert found["outcome"] == outcome
    assert found["peak_megabytes"] > 1
