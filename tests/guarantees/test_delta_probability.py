"""δ-probability, recomputed from the private output tables."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import undercover as uc
from undercover.errors import ParameterError
from undercover.guarantees.delta_probability import DeltaProbability, largest_share
from undercover.model.run import Run

# One group of three people: two of value 1, one of value 2.
LINES = [("1", "1", 0.5, 2), ("1", "2", 0.5, 2), ("2", "1", 0.25, 1), ("2", "2", 0.75, 1)]


def frame(lines: list[tuple[str, str, float, int]], group: int = 0) -> pa.Table:
    original, output, probability, records = zip(*lines, strict=True)
    return pa.table(
        {
            "group": [group] * len(lines),
            "attribute": ["age"] * len(lines),
            "original": original,
            "output": output,
            "probability": probability,
            "records": records,
        }
    )


def test_by_hand() -> None:
    # Output 1: .5, .5, .25 of 1.25; output 2: .5, .5, .75 of 1.75.
    actual, problems = largest_share(frame(LINES), 1, np.array([3]))
    assert actual == pytest.approx(0.75 / 1.75)
    assert not problems


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([*LINES[:3], ("2", "2", 0.7, 1)], "add up to 1"),
        ([*LINES[:2]], "a line for every record"),
        ([("1", "1", -1.0, 3), ("1", "2", 2.0, 3)], "no probability"),
        ([("1", "1", float("nan"), 3)], "no probability"),
    ],
)
def test_tables_that_are_none_are_found_out(lines: list[tuple[str, str, float, int]], said: str) -> None:
    _, problems = largest_share(frame(lines), 1, np.array([3]))
    assert said in " ".join(problems)


def test_a_group_that_does_not_exist() -> None:
    _, problems = largest_share(frame(LINES, group=5), 1, np.array([3]))
    assert "do not exist" in problems[0]


@pytest.fixture
def run() -> Run:
    example = uc.datasets.hospital("mutual-cover")
    return uc.publish(example.table, example.schema, uc.MutualCover(variant="paper", delta="1/3", l=3), seed=1)


def test_public_tables_cannot_tell_and_do_not_fail(run: Run) -> None:
    checked = uc.verify(run.release)
    (finding,) = checked.findings
    assert (finding.holds, finding.needs) == (None, "private")
    assert checked.holds is None
    assert checked.said == "nothing of what was promised can be checked from what is here; it needs the private run"


def test_the_private_run_can_tell(run: Run) -> None:
    checked = uc.verify(run)
    (finding,) = checked.findings
    assert finding.holds is True
    assert finding.required == pytest.approx(1 / 3)
    assert finding.actual <= 1 / 3
    assert run.release.guarantees[0]["needs"] == "private"


def test_a_changed_table_fails(run: Run) -> None:
    tables = run.frames["output_tables"]
    probability = tables["probability"].to_numpy().copy()
    lines = [i for i in range(len(probability)) if 0 < probability[i] < 1]
    probability[lines[0]] = 0.99
    place = tables.column_names.index("probability")
    forged = replace(
        run, frames={**run.frames, "output_tables": tables.set_column(place, "probability", [probability])}
    )
    checked = uc.verify(forged)
    assert not checked.holds
    assert "add up to 1" in checked.findings[0].note


def test_a_missing_table_fails(run: Run) -> None:
    assert not uc.verify(replace(run, frames={})).holds


def test_a_smaller_delta_than_was_kept_fails(run: Run) -> None:
    assert DeltaProbability(delta="1/4").check_run(run).holds is False
    assert DeltaProbability(delta="1/2").check_run(run).holds is True


@pytest.mark.parametrize("delta", [0, -1, "2", 1.5, "a", True])
def test_parameters(delta: object) -> None:
    with pytest.raises(ParameterError, match="DeltaProbability"):
        DeltaProbability(delta=delta)  # type: ignore[arg-type]
    assert DeltaProbability(delta=0.2).delta == Fraction(1, 5)
