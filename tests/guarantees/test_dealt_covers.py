"""Attribute cover and owner cover, recomputed from private runs of every shape, with planted faults."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import undercover as uc
from dealing import SHAPES, Shape, dealt
from undercover.errors import ParameterError
from undercover.model.form import Drawn
from undercover.model.groups import Groups
from undercover.model.run import Run


@pytest.mark.parametrize("shape", SHAPES)
def test_what_was_dealt_by_hand_keeps_what_it_promises(shape: Shape) -> None:
    run = dealt(shape)
    checked, public = uc.verify(run), uc.verify(run.release)
    assert checked.holds
    assert not checked.problems
    assert [(finding.holds, finding.actual) for finding in checked.findings] == [(True, 0.2)] * len(checked.findings)
    assert [(finding.holds, finding.needs) for finding in public.findings] == [(None, "private")] * len(public.findings)
    refutable = any(finding.name == "attribute-cover" for finding in public.findings)
    assert public.holds is (True if refutable else None)


def frame_with(run: Run, name: str, column: str, change: Callable[[Any], None]) -> Run:
    frame = run.frames[name]
    values = frame.column(column).to_numpy().copy()
    change(values)
    changed = frame.set_column(frame.column_names.index(column), column, pa.array(values))
    return replace(run, frames={**run.frames, name: changed})


def swapped(first: int, second: int) -> Callable[[Any], None]:
    def change(values: Any) -> None:
        values[[first, second]] = values[[second, first]]

    return change


def relabelled(run: Run, row: int, group: int) -> Run:
    labels = run.groups.labels.copy()
    labels[row] = group
    return replace(run, groups=Groups(labels, run.groups.count))


def of_other_group(run: Run) -> int:
    """A row that is not in the group of the first, and has another value."""
    values = np.array(run.original["ill"].codes)
    return int(np.flatnonzero((run.groups.labels != run.groups.labels[0]) & (values != values[0]))[0])


def a_group_too_small(run: Run) -> Run:
    rows = np.flatnonzero(run.groups.labels == 0)
    labels = run.groups.labels.copy()
    labels[rows[:2]] = run.groups.count
    return replace(run, groups=Groups(labels, run.groups.count + 1))


def a_repeated_value(run: Run) -> Run:
    values = np.array(run.original["ill"].codes)
    alike = np.flatnonzero((values == values[0]) & (run.groups.labels != run.groups.labels[0]))[0]
    return relabelled(run, int(alike), int(run.groups.labels[0]))


@pytest.mark.parametrize("shape", ["layers", "groups"])
@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (a_group_too_small, "2 rows"),
        (a_repeated_value, "do not differ"),
        (lambda run: replace(run, frames={}), "no `published_rows`"),
        (
            lambda run: frame_with(run, "published_rows", "published", lambda v: v.put(0, v[1])),
            "row of its own",
        ),
        (lambda run: frame_with(run, "published_rows", "cells", lambda v: v.put(0, v[1])), "row of its own"),
        (lambda run: frame_with(run, "published_rows", "row", lambda v: v.put(0, 99)), "row of its own"),
        (lambda run: frame_with(run, "published_rows", "cells", swapped(0, of_other_group(run))), "another group"),
    ],
)
def test_attribute_cover_finds_planted_faults(shape: Shape, fault: Callable[[Run], Run], said: str) -> None:
    finding = uc.verify(fault(dealt(shape))).findings[0]
    assert finding.holds is False
    assert said in finding.note


@pytest.mark.parametrize(
    ("shape", "fault", "said"),
    [
        ("blocks", a_group_too_small, "2 rows"),
        ("groups", a_group_too_small, "2 rows"),
        ("blocks", lambda run: replace(run, frames={}), "no `published_rows`"),
        ("layers", lambda run: frame_with(run, "blocks", "block", lambda v: v.put(0, 99)), "1 rows"),
        ("layers", lambda run: frame_with(run, "blocks", "row", lambda v: v.put(0, 99)), "in which block"),
        ("layers", lambda run: replace(run, frames={"published_rows": run.frames["published_rows"]}), "no `blocks`"),
        ("groups", lambda run: frame_with(run, "published_rows", "published", lambda v: v.put(0, v[1])), "of its own"),
        ("groups", lambda run: frame_with(run, "published_rows", "cells", swapped(0, of_other_group(run))), "another"),
    ],
)
def test_owner_cover_finds_planted_faults(shape: Shape, fault: Callable[[Run], Run], said: str) -> None:
    finding = uc.verify(fault(dealt(shape))).findings[-1]
    assert finding.holds is False
    assert said in finding.note


def test_more_than_was_kept_fails() -> None:
    run = dealt("groups")
    assert uc.AttributeCover(l=5).check_run(run).holds is True
    assert uc.AttributeCover(l=6).check_run(run).holds is False
    assert uc.OwnerCover(delta="1/5").check_run(run).holds is True
    assert uc.OwnerCover(delta="1/6").check_run(run).holds is False
    assert uc.OwnerCover(delta=0.1999).check_run(run).holds is False


def test_a_value_too_frequent_is_seen_in_the_published_table() -> None:
    run = dealt("layers")
    finding = uc.verify(run.release, also=[uc.AttributeCover(l=6)]).findings[-1]
    assert (finding.holds, finding.actual) == (False, 0.2)
    assert "1 in 6 rows" in finding.note


def test_values_that_nobody_can_tell_apart_are_one() -> None:
    run = dealt("layers")
    (table,) = run.release.tables
    cells = ["flu\u200b" if cell == "cold" else cell for cell in table.data.column("ill").to_pylist()]
    data = table.data.set_column(table.data.column_names.index("ill"), "ill", [cells])
    forged = replace(run, release=replace(run.release, tables=(replace(table, data=data),)))
    assert "do not differ" in uc.AttributeCover(l=4).check_run(forged).note
    assert uc.verify(forged.release).findings[0].holds is False  # two of five are one, of more than 1 in 4 rows


def test_the_terminal_says_what_a_row_is_a_persons_by() -> None:
    assert "of=cells" in str(uc.verify(dealt("layers")).view().to_dict())


@pytest.mark.parametrize(
    ("form", "promise", "said"),
    [
        (Drawn(columns="permuted"), uc.AttributeCover(l=4), "not dealt anew"),
        (Drawn(), uc.OwnerCover(delta="1/4"), "not permuted"),
        (Drawn(columns="permuted"), uc.OwnerCover(delta="1/4", of="cells"), "their rows' own"),
        (Drawn(columns="permuted", order="input"), uc.OwnerCover(delta="1/4"), "order of the input"),
        (Drawn(columns="permuted", values="permuted", among=4, order="input"), uc.AttributeCover(l=4), "order of the"),
    ],
)
def test_what_a_release_cannot_promise(form: Drawn, promise: Any, said: str) -> None:
    release = replace(dealt("layers").release, form=form)
    assert said in promise.unfit(release)


def test_releases_that_cover_the_truth_promise_neither() -> None:
    data = uc.datasets.hospital("mutual-cover")
    release = uc.publish(data.table, data.schema, uc.Mondrian(k=2), seed=1).release
    for promise in (uc.AttributeCover(l=2), uc.OwnerCover(delta="1/2"), uc.OwnerCover(delta="1/2", of="cells")):
        assert promise.unfit(release)


def test_groups_whose_values_differ_are_not_enough() -> None:
    example = uc.datasets.hospital("mutual-cover")
    method = uc.MutualCover(delta="1/3", l=3, variant="paper", partition="guided")
    run = uc.publish(example.table, example.schema, method, seed=1)
    for promise in (uc.AttributeCover(l=3), uc.OwnerCover(delta="1/3")):
        finding = promise.check_run(run)
        assert finding.holds is False
        assert "were not" in finding.note


def test_words_say_what_a_place_is_not() -> None:
    assert "not a bound on being identified" in uc.OwnerCover(delta="1/5", of="cells").meaning()
    assert "not identity" in uc.OwnerCover(delta="1/5", of="cells").title()
    assert uc.OwnerCover(delta="1/5", of="cells").covers() == frozenset()
    assert uc.OwnerCover(delta="1/5").covers() == {"identity"}
    assert "pregnant" in uc.AttributeCover(l=4).meaning()


@pytest.mark.parametrize("asked", [{"delta": 0}, {"delta": "2"}, {"delta": "1/2", "of": "rows"}])
def test_parameters(asked: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match="OwnerCover"):
        uc.OwnerCover(**asked)
    with pytest.raises(ParameterError, match="AttributeCover"):
        uc.AttributeCover(l=1)
