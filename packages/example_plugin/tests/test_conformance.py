"""What the package offers passes the checks that built-in plug-ins pass; a leaky variant does not."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import undercover as uc
from example_plugin import Backwards, RepeatedValues, Swap, Swapped
from undercover import plugins
from undercover.engines.local import LocalEngine
from undercover.errors import NotTold
from undercover.forms import read
from undercover.model.groups import Groups
from undercover.model.run import Draft
from undercover.model.table import Table
from undercover.pages.datasheet import datasheet_summary
from undercover.testing import check_attack, check_engine, check_form, check_guarantee, check_method
from undercover.verbs.attack import case_of

PEOPLE = uc.datasets.census(2000, seed=1)
SCHEMA = uc.Schema(quasi_identifiers=["age", "sex", "education"], sensitive="income")
TRIALS = 150
"""Runs on each table, which suffice to find the variant that tells of a value."""


def test_the_method() -> None:
    check_method("swap", trials=TRIALS)


def test_the_form() -> None:
    check_form("swapped")


@pytest.mark.parametrize("times", [1, 2])
def test_the_guarantee(times: int) -> None:
    check_guarantee(RepeatedValues(times=times))


def test_the_attack() -> None:
    check_attack("singling-out")


def test_the_engine() -> None:
    check_engine("backwards")


def test_what_an_engine_does_first_shows_nowhere() -> None:
    here, there = (
        uc.publish(PEOPLE, SCHEMA, uc.Anatomy(l=2), seed=1, engine=engine)
        for engine in (LocalEngine(parts=4), Backwards(parts=4))
    )
    assert here.diagnostics["parts"]["made"] == 4
    assert [table.data for table in here.release.tables] == [table.data for table in there.release.tables]


def test_who_offers_them() -> None:
    kinds = {"methods": "swap", "forms": "swapped", "guarantees": "repeated-values", "attacks": "singling-out"}
    kinds["engines"] = "backwards"
    assert {plugins.origin(kind, name) for kind, name in kinds.items()} == {"example-plugin 0.1.0"}


class InFileOrder(Swap):
    """Says in public what only the holder may know."""

    def anonymize(self, table: Table, **how: Any) -> Draft:
        draft = super().anonymize(table, **how)
        first = table.schema.quasi_identifiers[0]
        return replace(draft, used={"dropped": list(table[first].domain.labels)})


class BySensitiveValue(Swap):
    """Who is with whom depends on the first person's sensitive value, and yet it declares itself safe."""

    def anonymize(self, table: Table, **how: Any) -> Draft:
        codes = table[table.schema.sensitive[0]].codes
        chosen = np.arange(table.n_rows) < (2 if codes[0] == codes.min() else 3)
        return replace(super().anonymize(table, **how), groups=Groups(chosen.astype(np.int32), 2))


@pytest.mark.parametrize(
    ("method", "said", "trials"),
    [
        (InFileOrder(share=0.9), "tells of people", 20),  # what stands in its files is the same in every run
        (BySensitiveValue(share=0.9), "does not help. It does", TRIALS),
    ],
    ids=lambda given: type(given).__name__,
)
def test_a_leaky_variant_is_caught(method: Swap, said: str, trials: int) -> None:
    with pytest.raises(AssertionError, match=said):
        check_method(method, trials=trials)


def test_a_swapped_table_is_read_as_one() -> None:
    run = uc.publish(PEOPLE, SCHEMA, Swap(share=0.9), seed=1)
    assert run.release.form == Swapped(share=0.9)
    loss = uc.measure(PEOPLE, run).to_dict()["loss"]["iloss"]["arithmetic"]
    assert 0.45 < loss < 0.52
    found = uc.verify(run, original=PEOPLE).findings
    assert all(finding.holds for finding in found)
    assert [finding.name for finding in found].count("column-preserved") == 3
    with pytest.raises(NotTold):
        uc.answer(run.release, uc.CountQuery(where={"age": uc.Between(30, 40), "sex": "Female"}))


def test_single_columns_are_exact_and_no_more_is_said() -> None:
    run = uc.publish(PEOPLE, SCHEMA, Swap(share=0.9))
    for name in ("age", "sex", "education", "income"):
        assert sorted(run.release.table()[name].to_pylist()) == sorted(PEOPLE[name].to_pylist())
    sheet = datasheet_summary(run.release)
    exact = [snippet["title"] for snippet in sheet["snippets"] if "exact" in snippet["text"]]
    assert exact == ["Count by one column"]
    assert "example-plugin 0.1.0, not checked here" in sheet["algorithm_safe"]["words"]
    case = case_of(run)
    own = read(run.release).own_rows(run)
    assert own is not None
    assert not np.array_equal(own, np.arange(2000))
    fits = case.reading.own_fits(("age",), case.original, case.own)
    assert 0.05 < fits.mean() < 0.2
