"""The cross-bucket experiment: what it measures on small tables, and its claims on made-up figures."""

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pytest

import undercover as uc
from undercover.errors import ParameterError, SchemaError
from undercover.io.source import read
from undercover.model.table import Table
from undercover.studies.experiments.experiment import Judgement, Row, Rows
from undercover.studies.experiments.papers.cross_bucket import (
    ABOVE,
    ANATOMY,
    BREACH,
    BY_K,
    BY_L,
    CROSS,
    DM,
    ERROR,
    ESTIMATE,
    HOLDS,
    IDENTITY,
    MEDIAN,
    METHODS,
    MONDRIAN,
    NCP,
    SAFE,
    WORST,
    Bench,
    at_least,
    build,
    claims,
    method_of,
)
from undercover.studies.experiments.request import Request
from undercover.studies.experiments.runner import run_experiment

NAMES = ["age", "sex", "education", "hours"]


def bench(n: int = 600) -> Bench:
    schema = uc.datasets.census_schema(NAMES, "salary", hierarchies=False)
    return Bench(load=lambda: Table.from_arrow(uc.datasets.census(n, seed=3), schema), queries=20)


def test_what_is_measured_is_what_the_verbs_say() -> None:
    found = bench().measure(CROSS, 3, 6, seed=5)
    people = uc.datasets.census(600, seed=3)
    run = uc.publish(
        people,
        uc.datasets.census_schema(NAMES, "salary", hierarchies=False),
        uc.CrossBucket(k=3, l=6, variant="paper"),
        seed=5,
    )
    attacked = uc.attack(run, uc.BucketMatching())
    assert found[BREACH] == pytest.approx(attacked.breach["salary"].mean())
    assert found[WORST] == pytest.approx(attacked.breach["salary"].max())
    assert found[IDENTITY] == 1 / attacked.matches.min()
    assert found[DM] == run.diagnostics["discernibility"]
    assert run.original is not None
    assert found[ERROR] == uc.SumError(queries=20, seed=5).of_release(run.original, run.release).mean
    assert found[HOLDS] == 1
    assert found[at_least(0.05)] == pytest.approx((attacked.breach["salary"] >= 0.05 - 1e-12).mean())
    assert found[NCP] == uc.measure(people, run).to_dict()["loss"]["ncp"]["arithmetic"]


def test_the_papers_variant_and_ours_are_two_series() -> None:
    assert [method_of(name, 3, 4).variant for name in (CROSS, SAFE)] == ["paper", "safe"]  # type: ignore[attr-defined]


@pytest.mark.parametrize("method", METHODS)
def test_every_method_is_measured(method: str) -> None:
    found = bench().measure(method, 3, 4, seed=1)
    assert found[WORST] <= 1 / 4 + 1e-12
    assert (DM in found) == (method != ANATOMY)
    assert found[HOLDS] == 1


def by_l(measure: str, figures: Mapping[str, Mapping[int, float]]) -> list[Row]:
    return [
        Row("cross-bucket", BY_L, series, l, measure, value)
        for series, values in figures.items()
        for l, value in values.items()  # noqa: E741
    ]


def by_k(measure: str, values: Mapping[int, float], series: str = "l = 4") -> list[Row]:
    return [Row("cross-bucket", BY_K, series, k, measure, value) for k, value in values.items()]


def judge(claim_id: str, rows: list[Row]) -> Judgement:
    (claim,) = (claim for claim in claims(3) if claim.id == claim_id)
    return claim.judged(Rows(tuple(rows)))


BREACHES = {MONDRIAN: {4: 0.2, 10: 0.08}, ANATOMY: {4: 0.25, 10: 0.1}, CROSS: {4: 0.1, 10: 0.05}}


def test_claims_on_breach() -> None:
    rows = by_l(BREACH, BREACHES)
    assert judge("cross-bucket-lowest", rows).verdict == "held"
    assert judge("mondrian-below-anatomy", rows).verdict == "held"
    once = by_l(BREACH, {**BREACHES, CROSS: {4: 0.1, 10: 0.081}})
    found = judge("cross-bucket-lowest", once)
    assert found.verdict == "not held"
    assert "cross-bucket 8.1%, mondrian 8%" in found.figures
    assert judge("anatomy-abides", rows + by_l(WORST, {ANATOMY: {4: 0.25, 10: 0.1}})).verdict == "held"
    assert judge("anatomy-abides", rows + by_l(WORST, {ANATOMY: {4: 0.25, 10: 0.11}})).verdict == "not held"


def test_claims_on_discernibility() -> None:
    rows = by_l(BREACH, BREACHES)
    flat = rows + by_l(DM, {MONDRIAN: {4: 30, 10: 90}, CROSS: {4: 10, 10: 10}})
    assert judge("dm-flat", flat) == Judgement("held", "10")
    assert judge("dm-pronounced", flat) == Judgement("held", "l = 4: 3.0 times, l = 10: 9.0 times")
    bent = rows + by_l(DM, {MONDRIAN: {4: 19, 10: 90}, CROSS: {4: 10, 10: 11}})
    assert judge("dm-flat", bent).verdict == "not held"
    assert judge("dm-pronounced", bent).verdict == "not held"
    assert judge("dm-coincides", by_k(DM, {3: 9, 5: 25}) + by_k(DM, {3: 9, 5: 25}, "l = 6")).verdict == "held"
    assert judge("dm-coincides", by_k(DM, {3: 9, 5: 25}) + by_k(DM, {3: 9, 5: 26}, "l = 6")).verdict == "not held"
    assert judge("dm-coincides", by_k(DM, {3: 9, 5: 25_000}) + by_k(DM, {3: 9, 5: 25_010}, "l = 6")).verdict == "held"


def test_claims_on_errors() -> None:
    rows = by_l(BREACH, BREACHES)
    better = rows + by_l(ERROR, {MONDRIAN: {4: 1.0, 10: 3.0}, CROSS: {4: 0.9, 10: 1.0}})
    assert judge("error-below-mondrian", better).verdict == "held"
    assert judge("error-little-affected", better).verdict == "held"
    worse = rows + by_l(ERROR, {MONDRIAN: {4: 1.0, 10: 1.1}, CROSS: {4: 0.5, 10: 1.2}})
    assert judge("error-below-mondrian", worse).verdict == "not held"
    assert judge("error-little-affected", worse).verdict == "not held"
    medians = rows + by_l(MEDIAN, {MONDRIAN: {4: 1.0, 10: 1.1}, CROSS: {4: 0.5, 10: 1.2}})
    assert judge("median-error-below-mondrian", medians).verdict == "not held"
    assert judge("error-grows", by_k(ERROR, {3: 1, 5: 2, 10: 9})).verdict == "held"
    assert judge("error-grows", by_k(ERROR, {3: 1, 5: 2, 10: 2})).verdict == "not held"
    assert judge("error-grows-faster", by_k(ERROR, {3: 1, 5: 2, 10: 9})).verdict == "held"
    assert judge("error-grows-faster", by_k(ERROR, {3: 1, 5: 2, 10: 3})).verdict == "not held"
    assert judge("error-grows-faster", by_k(ERROR, {3: 1, 5: 2})).verdict == "cannot be tested"


def test_our_variant_is_judged_by_what_is_said_of_it_alone() -> None:
    ours = by_l(WORST, {SAFE: {4: 0.25, 10: 0.1}}) + by_l(NCP, {SAFE: {4: 0.1, 10: 0.2}, CROSS: {4: 0.2, 10: 0.3}})
    ours += by_l(ESTIMATE, {SAFE: {4: 0.1, 10: 0.2}, CROSS: {4: 0.2, 10: 0.3}})
    for claim in ("safe-abides", "safe-loses-less", "safe-answers-better"):
        assert judge(claim, ours).verdict == "held"
    assert judge("safe-abides", by_l(WORST, {SAFE: {4: 0.25, 10: 0.11}})).verdict == "not held"
    for measure, claim in ((NCP, "safe-loses-less"), (ESTIMATE, "safe-answers-better")):
        assert judge(claim, by_l(measure, {SAFE: {4: 0.3}, CROSS: {4: 0.2}})).verdict == "not held"
    rising = by_k(BREACH, {3: 0.2, 5: 0.1}) + by_k(BREACH, {3: 0.1, 5: 0.2}, f"{SAFE}, l = 4")
    assert judge("k-protects", rising).verdict == "held"  # the paper's claim is about the paper's variant
    found = by_k(IDENTITY, {3: 1 / 3}) + by_k(IDENTITY, {3: 0.5}, f"{SAFE}, l = 4") + by_l(IDENTITY, {SAFE: {4: 0.5}})
    assert judge("identity-bound", found).verdict == "held"


def test_claims_on_k() -> None:
    assert judge("k-protects", by_k(BREACH, {3: 0.2, 5: 0.1})).verdict == "held"
    assert judge("k-protects", by_k(BREACH, {3: 0.2, 5: 0.2})).verdict == "not held"
    assert judge("k-protects-above", by_k(ABOVE, {3: 1.0, 5: 0.9})).verdict == "held"
    assert judge("k-protects-above", by_k(ABOVE, {3: 0.9, 5: 0.9})).verdict == "not held"
    kept = by_l(IDENTITY, {CROSS: {4: 1 / 3}}) + by_k(IDENTITY, {3: 1 / 3, 5: 0.2})
    assert judge("identity-bound", kept).verdict == "held"
    assert judge("identity-bound", [*kept, *by_k(IDENTITY, {10: 0.11})]).verdict == "not held"


def test_one_release_that_breaks_its_promise_is_enough() -> None:
    assert judge("promise-holds", by_k(HOLDS, {3: 1, 5: 1})).verdict == "held"
    assert judge("promise-holds", by_k(HOLDS, {3: 1, 5: 0})).verdict == "not held"


@pytest.mark.parametrize("claim", claims(3), ids=lambda claim: claim.id)
def test_without_figures_no_claim_is_judged(claim) -> None:  # type: ignore[no-untyped-def]
    assert claim.judged(Rows(())).verdict == "cannot be tested"


def test_the_quick_experiment_runs_and_is_written(tmp_path: Path) -> None:
    found = run_experiment(build(Request(quick=True, rows=800)), tmp_path / "out")
    assert {row["figure"] for row in found["rows"]} == {BY_L, BY_K}
    verdicts = {claim["id"]: claim["verdict"] for claim in found["claims"]}
    assert verdicts["promise-holds"] == verdicts["identity-bound"] == verdicts["anatomy-abides"] == "held"
    (curve,) = (plot for plot in found["plots"] if plot["id"] == "breach-curve")
    for panel, series in {(point["panel"], point["series"]) for point in curve["points"]}:
        shares = [p["mean"] for p in curve["points"] if (p["panel"], p["series"]) == (panel, series)]
        assert shares == sorted(shares, reverse=True)  # the more sure, the fewer
        assert max(shares) > 0
    assert "Cross-bucket generalization" in (tmp_path / "out" / "experiment.html").read_text()


def test_an_own_table_is_measured_and_refusals_are_recorded(tmp_path: Path) -> None:
    data = pa.table({"age": [i % 40 for i in range(120)], "ill": [f"s{i % 6}" for i in range(120)]})
    schema = uc.Schema(quasi_identifiers=["age"], sensitive="ill")
    found = run_experiment(build(Request(given=read(data), schema=schema, quick=True)), tmp_path / "out")
    measures = {row["measure"] for row in found["rows"]}
    assert BREACH in measures
    assert ERROR not in measures  # diseases cannot be added up
    assert any("l=10 cannot be reached" in str(refused) for refused in found["refused"])
    two = uc.Schema(quasi_identifiers=["age"], sensitive=["ill", "age2"])
    with pytest.raises(SchemaError):
        build(Request(given=read(data), schema=two))
    with pytest.raises(ParameterError, match="The 'k' option"):
        build(Request(options={"k": "0"}))
