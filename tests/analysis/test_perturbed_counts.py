"""Estimates from perturbed releases: by hand, unbiased over many releases, and with honest standard errors."""

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import undercover as uc
from undercover.errors import NotTold, ParameterError
from undercover.forms.answers.channel import Estimate, PerturbedCounts
from undercover.model.form import Perturbed
from undercover.model.release import PublishedColumn, PublishedTable, Release

COLUMNS = (
    PublishedColumn("age", "quasi-identifier", "interval"),
    PublishedColumn("ill", "sensitive", "value"),
    PublishedColumn("G", "structure", "value"),
)


def release(
    ages: list[str], ill: list[Any], people: list[int], p: Any = "1/2", domain: Any = ("flu", "cold")
) -> Release:
    data = pa.table({"age": ages, "ill": ill, "G": people})
    form = Perturbed(keep=str(p), domain=tuple(domain))
    return Release("perturbed-generalization", {}, (PublishedTable("table", COLUMNS, data),), True, form=form)


def test_counts_by_hand() -> None:
    # p = 1/2, two values: a cell of G people counts G (b - 1/4) / (1/2) for one of them.
    found = PerturbedCounts(release(["[20, 29]", "[30, 39]"], ["flu", "cold"], [4, 6]))
    assert found.count({"ill": "flu"}).value == pytest.approx(4 * 1.5 - 6 * 0.5)
    assert found.count({"ill": "cold"}).value == pytest.approx(6 * 1.5 - 4 * 0.5)
    assert found.count() == Estimate(10, 0)
    assert found.count({"age": uc.Between(20, 29)}) == Estimate(4, 0)
    assert found.count({"age": uc.Between(25, 29), "ill": "flu"}).value == pytest.approx(0.5 * 4 * 1.5)
    assert found.count({"age": uc.Between(50, 60), "ill": "flu"}) == Estimate(0, 0)
    assert found.count(uc.CountQuery(where={"ill": uc.OneOf(["flu", "cold"])})).value == pytest.approx(10)


def test_standard_error_by_hand() -> None:
    # Equal weights w = 8: spread of b around its mean, with one degree of freedom less.
    found = PerturbedCounts(release(["1", "2", "3", "4"], ["flu", "flu", "cold", "cold"], [4] * 4))
    assert found.count({"ill": "flu"}).standard_error == pytest.approx((64 * 4 * 0.25 * 4 / 3) ** 0.5)
    # One cell tells nothing of its own spread: the most there can be.
    alone = PerturbedCounts(release(["1", "2"], ["flu", "cold"], [4, 4])).count({"age": 1, "ill": "flu"})
    assert alone.standard_error == pytest.approx(8 * 0.5)


def test_sums_by_hand() -> None:
    found = PerturbedCounts(release(["1", "2"], [10, 30], [4, 6], domain=("10", "20", "30")))
    # A cell is worth G (value - (1 - p) 20) / p
    assert found.sum().value == pytest.approx(4 * (10 - 10) * 2 + 6 * (30 - 10) * 2)
    assert found.sum({"age": 2}).value == pytest.approx(6 * 20 * 2)
    assert found.mean({"age": 2}).value == pytest.approx(40)
    with pytest.raises(ParameterError, match="no mean"):
        found.mean({"age": 3})


def test_marginals_add_up() -> None:
    found = PerturbedCounts(release(["1", "2", "3"], ["flu", "cold", "flu"], [4, 6, 5]))
    table = found.marginal()
    assert [line["ill"] for line in table] == ["flu", "cold"]
    assert sum(line["estimate"] for line in table) == pytest.approx(15)
    by_age = found.marginal(by="age")
    assert [(line["age"], line["ill"]) for line in by_age][:2] == [("1", "flu"), ("1", "cold")]
    assert sum(line["estimate"] for line in by_age if line["ill"] == "flu") == pytest.approx(table[0]["estimate"])


def test_bad_questions() -> None:
    found = PerturbedCounts(release(["1", "2"], ["flu", "cold"], [4, 4]))
    with pytest.raises(ParameterError, match="`agee` is not known"):
        found.count({"agee": 1})
    with pytest.raises(ParameterError, match="holds no numbers"):
        found.sum()
    with pytest.raises(ParameterError, match="quasi-identifiers only"):
        found.marginal({"ill": "flu"})
    with pytest.raises(ParameterError, match="not known"):
        found.marginal(by="ill")
    with pytest.raises(ParameterError, match="no value was kept"):
        PerturbedCounts(release(["1"], ["flu"], [4], p=0)).count({"ill": "flu"})
    with pytest.raises(ParameterError, match="did not go through a channel"):
        PerturbedCounts(Release("mondrian", {}, (), True))


def errors(p: float, wrong: float = 1.0, releases: int = 150) -> tuple[np.ndarray, np.ndarray]:
    """(estimate - truth) / standard error of counts and sums; ``wrong`` misstates p by a factor."""
    people, schema = uc.datasets.census(3000, seed=5), uc.datasets.census_schema(["age", "sex"], hierarchies=False)
    income, sex = np.array(people["income"].to_pylist()), np.array(people["sex"].to_pylist())
    truth = ((sex == "Female") & (income < 20)).sum()
    total = income[sex == "Female"].sum()
    counts, sums = [], []
    for seed in range(releases):
        made = uc.publish(people, schema, uc.PerturbedGeneralization(k=5, p=p), seed=seed).release
        asked = PerturbedCounts(replace(made, form=replace(made.form, keep=str(p * wrong))))
        count = asked.count({"sex": "Female", "income": uc.Between(0, 19)})
        money = asked.sum({"sex": "Female"})
        counts.append((count.value - truth) / count.standard_error)
        sums.append((money.value - total) / money.standard_error)
    return np.array(counts), np.array(sums)


def test_estimates_are_unbiased_and_their_errors_honest() -> None:
    for found in errors(0.4):
        assert abs(found.mean()) < 4 / len(found) ** 0.5  # in standard errors of the mean
        assert 0.7 < found.std() < 1.15  # never much too small, and not far too large
        assert (np.abs(found) < 1.96).mean() > 0.9


def test_a_wrong_p_shows() -> None:
    assert any(abs(found.mean()) > 4 / len(found) ** 0.5 for found in errors(0.4, wrong=2, releases=60))


def test_hierarchies_are_read_from_the_release() -> None:
    people = uc.datasets.census(3000, seed=5)
    schema = uc.datasets.census_schema(["age"])
    made = uc.publish(people, schema, uc.PerturbedGeneralization(k=5, p=0.4, recoding="specialize"), seed=1)
    found = PerturbedCounts(made.release).count({"age": uc.Between(0, 39)})
    assert found.value == pytest.approx(sum(age < 40 for age in people["age"].to_pylist()))
    with pytest.raises(NotTold, match="PerturbedCounts"):
        uc.answer(made.release, uc.CountQuery(where={"age": 30}))


def test_an_estimate_in_one_line_and_its_interval() -> None:
    assert repr(Estimate(120.0, 15.0)) == "<Estimate: 120 ± 15 (one standard error)>"
    assert Estimate(120.0, 10.0).interval() == (100.4, 139.6)
