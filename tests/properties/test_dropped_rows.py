"""Rows dropped for a missing value leave no trace in what is published."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

import undercover as uc

pytestmark = pytest.mark.usefixtures("unjudged")

PEOPLE = uc.datasets.census(600, seed=4).select(["age", "sex", "income"])
METHODS = (uc.Mondrian(k=5, l=2), uc.Incognito(k=5, suppression=0.05), uc.Anatomy(l=3))


def files(run: uc.Run, place: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (uc.save(run, place) / "public").iterdir()}


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_the_public_part_is_that_of_the_rows_that_were_kept(method: uc.Mondrian, tmp_path: Path) -> None:
    schema = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="income", missing="drop")
    lacking = pa.table({"age": [30, None, 41], "sex": ["Male", "Female", None], "income": [None, 3, 4]}, PEOPLE.schema)
    kept = uc.publish(PEOPLE, schema, method, seed=1)
    some = uc.publish(pa.concat_tables([PEOPLE, lacking]), schema, method, seed=1)
    assert files(kept, tmp_path / "kept") == files(some, tmp_path / "some")
    # The holder is told.
    assert any("3 of 603 rows have a missing value" in warning for warning in some.warnings)
    assert not any("missing value" in warning for warning in kept.warnings)
    assert json.loads((tmp_path / "some" / "private" / "run.json").read_text("utf-8"))["warnings"]
