import math
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from undercover.datasets import census
from undercover.engines.local import LocalEngine
from undercover.errors import ParameterError, SchemaError
from undercover.io.source import read
from undercover.methods.streamliner.method import Streamliner
from undercover.model.schema import Column, Schema
from undercover.model.table import Table
from undercover.randomness import Randomness
from undercover.studies.experiments.bench import part
from undercover.studies.experiments.experiment import NotMeasuredError, Row, Rows
from undercover.studies.experiments.papers.streamliner.bench import CLASSES, CONTROL, Bench, optimal_discernibility
from undercover.studies.experiments.papers.streamliner.experiment import build, claims
from undercover.studies.experiments.request import Request
from undercover.studies.experiments.runner import run_experiment

PREDICATES = {"age": ("age",), "sex": ("sex",), "age and sex": ("age", "sex"), "all": ("age", "sex", "education")}


def small_table(n: int = 1200) -> Table:
    schema = Schema(
        quasi_identifiers=["age", "sex", "education"], sensitive="income", columns={"sex": Column(kind="categorical")}
    )
    return Table.from_arrow(census(n, seed=3), schema)


def bench_of(table: Table) -> Bench:
    return Bench(
        load=lambda: table,
        weights={"age": 1, "sex": 10_000, "education": 1},
        strata=("sex",),
        predicates=PREDICATES,
        queries=50,
        used=3,
    )


def optimum_by_search(n: int, l: int) -> int:  # noqa: E741
    """The least sum of squares over all ways to write n as a sum of parts of at least l."""
    best = [0] + [math.inf] * n
    for total in range(1, n + 1):
        best[total] = min((best[total - size] + size * size for size in range(l, total + 1)), default=math.inf)
    return int(best[n])


@pytest.mark.parametrize("n", [7, 12, 23, 31])
@pytest.mark.parametrize("l", [2, 3, 5])
def test_optimal_discernibility_is_the_least_there_is(n, l):  # noqa: E741
    assert optimal_discernibility(n, l) == optimum_by_search(n, l)


def test_what_is_timed_is_the_method():
    table = small_table()
    bench = bench_of(table)
    assert bench.method(table, "rda", 4) == Streamliner(l=4, algorithm="rda")
    assert bench.method(table, "wrap", 4) == Streamliner(l=4)
    assert bench.method(table, "gda", 4) == Streamliner(
        l=4, algorithm="gda", weights={"age": 1, "sex": 10_000, "education": 1}, allow_unsafe=True
    )
    assert bench.method(table, "guided", 4) == Streamliner(
        l=4,
        algorithm="guided",
        strata=("sex",),
        weights={"sex": 0, "age": 1, "education": table["age"].domain.size + 1},
    )
    draft = Streamliner(l=4).anonymize(table, engine=LocalEngine(), randomness=Randomness(5))
    assert bench.groups(table, "wrap", 4, seed=5).labels.tolist() == draft.groups.labels.tolist()


def test_class_dealing_is_measured_beside_the_methods():
    table = small_table(400)
    groups = bench_of(table).groups(table, CLASSES, 4, seed=5)
    assert groups.sizes.min() == 4
    for group in range(groups.count):
        values = table["income"].codes[groups.rows_of(group)]
        assert len(set(values.tolist())) == len(values)
    assert set(bench_of(table).query_error(CLASSES, 4, seed=1)) == set(bench_of(table).predicates)


def test_replicated_table_has_every_row_so_often():
    table = small_table(50)
    thrice = part(table, ("age", "sex"), copies=3)
    assert thrice.n_rows == 150
    assert thrice.schema.quasi_identifiers == ("age", "sex")
    np.testing.assert_array_equal(thrice["income"].codes, np.concatenate([table["income"].codes] * 3))


def test_query_error_of_rda_on_sex_is_that_of_halving():
    """Groups blind to sex nearly all have both, so the estimate is half of the rows with the sensitive value."""
    table = small_table(40_000)
    bench = replace(bench_of(table), queries=2000)
    exact = np.zeros((table["sex"].domain.size, table["income"].domain.size))
    np.add.at(exact, (table["sex"].codes, table["income"].codes), 1)
    expected = np.mean(np.abs(exact - exact.sum(axis=0) / 2) / np.maximum(exact, 0.005 * table.n_rows))
    found = bench.query_error("rda", 10, seed=1)
    assert found["sex"] == pytest.approx(expected, rel=0.1)
    assert bench.query_error("guided", 10, seed=1)["sex"] == 0


def time_rows(times: dict[str, list[float]], figure: str = "time-n") -> Rows:
    return Rows(
        tuple(
            Row("streamliner", figure, series, 1_000_000 * (i + 1), "seconds", value)
            for series, values in times.items()
            for i, value in enumerate(values)
        )
    )


def judge(rows: Rows, claim_id: str):
    (claim,) = (claim for claim in claims(PREDICATES, "sex", "all") if claim.id == claim_id)
    return claim.judged(rows)


SIZES = range(1, 9)
LINEAR = [0.1 * n for n in SIZES]
SQUARE = [0.1 * n**2 for n in SIZES]
CACHED = [0.1 * n**1.4 for n in SIZES]


@pytest.mark.parametrize(
    ("rda", "gda", "control", "verdict"),
    [
        (LINEAR, LINEAR, LINEAR, "held"),
        (CACHED, CACHED, CACHED, "held"),
        (LINEAR, CACHED, LINEAR, "not held"),
        (LINEAR, SQUARE, LINEAR, "not held"),
        (SQUARE, LINEAR, LINEAR, "not held"),
        (LINEAR, LINEAR, SQUARE, "cannot be tested"),  # the control grows as it cannot
        ([t / 1000 for t in LINEAR], LINEAR, LINEAR, "cannot be tested"),  # too short to mean anything
        (LINEAR[:1], LINEAR[:1], LINEAR[:1], "cannot be tested"),
    ],
)
def test_growth_is_judged_against_the_control(rda, gda, control, verdict):
    assert judge(time_rows({"rda": rda, "gda": gda, CONTROL: control}), "time-linear").verdict == verdict


def test_times_are_compared_at_every_size_and_slight_at_the_largest():
    slower = [1.5 * t for t in LINEAR]
    assert judge(time_rows({"rda": LINEAR, "gda": slower}), "rda-faster").verdict == "held"
    assert judge(time_rows({"rda": LINEAR, "gda": slower}), "gda-overhead-slight").verdict == "held"
    once = [*slower[:-1], LINEAR[-1] * 0.9]
    assert judge(time_rows({"rda": LINEAR, "gda": once}), "rda-faster").verdict == "not held"
    late = [*slower[:-1], LINEAR[-1] * 2.1]
    assert judge(time_rows({"rda": LINEAR, "gda": late}), "gda-overhead-slight").verdict == "not held"


@pytest.mark.parametrize(
    ("figure", "claim"), [("time-l", "time-insensitive-to-l"), ("time-qi", "time-insensitive-to-qi")]
)
def test_insensitive_means_within_half_as_much_again(figure, claim):
    flat, steep = [0.1, 0.12, 0.14], [0.1, 0.12, 0.16]
    assert judge(time_rows({"rda": flat, "gda": flat}, figure), claim).verdict == "held"
    assert judge(time_rows({"rda": flat, "gda": steep}, figure), claim).verdict == "not held"
    assert judge(time_rows({"rda": flat}, figure), claim).verdict == "cannot be tested"


def dm_rows(series: str, ratios: list[float], minimal: float = 1.0) -> Rows:
    rows = [Row("streamliner", "dm", series, i + 2, "DM to optimum", ratio) for i, ratio in enumerate(ratios)]
    return Rows((*rows, Row("streamliner", "dm", series, 2, "groups of l", minimal)))


def test_discernibility_is_judged_by_the_worst_l():
    assert judge(dm_rows("rda", [1.0, 1.009]), "dm-rda-optimal").verdict == "held"
    assert judge(dm_rows("rda", [1.0, 1.011]), "dm-rda-optimal").verdict == "not held"
    assert judge(dm_rows("gda", [1.0, 1.051]), "dm-gda-near-optimal").verdict == "not held"
    assert judge(dm_rows("wrap", [1.0, 1.0000001]), "wrap-optimal").verdict == "not held"
    assert judge(dm_rows("rda", [1.0], 0.5), "rda-minimal-groups").verdict == "not held"
    assert judge(dm_rows("rda", [1.0], 0.51), "rda-minimal-groups").verdict == "held"


def qwe_rows(**errors: dict[str, float]) -> Rows:
    return Rows(
        tuple(
            Row("streamliner", "qwe", series, 8, label, value)
            for series, by_label in errors.items()
            for label, value in by_label.items()
        )
    )


def test_query_errors_are_judged_label_by_label():
    low, high = dict.fromkeys(PREDICATES, 0.1), dict.fromkeys(PREDICATES, 0.5)
    better = qwe_rows(rda=high, gda=low, guided={**low, "sex": 0.0, "all": 0.05})
    verdicts = {
        claim: judge(better, claim).verdict
        for claim in (
            "gda-answers-better",
            "gender-error-reduced",
            "gender-error-levels",
            "guided-exact-on-strata",
            "guided-better-than-gda",
        )
    }
    assert set(verdicts.values()) == {"held"}
    mixed = qwe_rows(rda=high, gda={**low, "age": 0.6, "sex": 0.3}, guided=high)
    assert judge(mixed, "gda-answers-better").verdict == "not held"
    assert judge(mixed, "gda-answers-better").figures.startswith("3 of 4")
    assert {judge(mixed, claim).verdict for claim in list(verdicts)[1:]} == {"not held"}


def test_claims_that_need_what_we_lack_cannot_be_tested():
    for claim in ("faster-than-transparent", "answers-like-transparent"):
        assert judge(Rows(()), claim).verdict == "cannot be tested"


def test_every_claim_can_be_left_without_figures():
    verdicts = {claim.judged(Rows(())).verdict for claim in claims(PREDICATES, "sex", "all")}
    assert verdicts == {"cannot be tested"}
    with pytest.raises(NotMeasuredError):
        Rows(()).mean("time-n", "rda", "seconds")


def test_quick_run_on_the_census(tmp_path):
    results = run_experiment(build(Request(quick=True, rows=900)), tmp_path)
    assert results["refused"] == []
    assert {row["figure"] for row in results["rows"]} == {"time-n", "time-l", "time-qi", "dm", "qwe"}
    assert {row["x"] for row in results["rows"] if row["figure"] == "time-qi"} == set(range(1, 8))
    assert len(results["plots"]) == 5
    assert {claim["id"]: claim["verdict"] for claim in results["claims"]}["wrap-optimal"] == "held"
    again = run_experiment(build(Request(quick=True, rows=900)), tmp_path)
    assert again["timings"]["reused"] == again["timings"]["cells"]
    assert again["rows"] == results["rows"]


def own_table(n: int = 600) -> pa.Table:
    rng = np.random.default_rng(1)
    return pa.table(
        {
            "age": rng.integers(18, 60, n),
            "town": rng.choice(["a", "b", "c"], n),
            "ill": [f"illness {i % 5}" for i in range(n)],
        }
    )


def test_own_table_and_cells_that_cannot_be_reached(tmp_path):
    schema = Schema(quasi_identifiers=["age", "town"], sensitive="ill")
    experiment = build(Request(given=read(own_table()), schema=schema, quick=True))
    assert experiment.private
    assert experiment.settings["predicates"] == {"age": ("age",), "town": ("town",), "age and town": ("age", "town")}
    assert experiment.settings["weights"] == {"age": 1, "town": 10_000}
    results = run_experiment(experiment, tmp_path)
    assert {cell["figure"] for cell in results["refused"]} == {"time-n", "time-l", "time-qi", "dm", "qwe"}
    assert all(
        "the largest feasible l is 5" in cell["reason"] or "strata" in cell["reason"] for cell in results["refused"]
    )
    verdicts = {claim["id"]: claim["verdict"] for claim in results["claims"]}
    assert verdicts["gda-answers-better"] == "cannot be tested"
    assert verdicts["wrap-optimal"] == "held"  # l = 2 can be reached
    assert "Nothing of it could be measured" in (tmp_path / "experiment.html").read_text()


def test_weights_of_the_spec_and_options():
    schema = Schema(quasi_identifiers=["age", "town"], sensitive="ill", columns={"age": Column(weight=3.0)})
    given = read(own_table())
    assert build(Request(given=given, schema=schema)).settings["weights"] == {"age": 3, "town": 1}
    options = {"category": "age", "range": "town", "weight": "7"}
    chosen = build(Request(given=given, schema=schema, options=options)).settings
    assert chosen["weights"] == {"age": 7, "town": 1}
    assert chosen["strata"] == ["age"]


@pytest.mark.parametrize("options", [{"table": "both"}, {"weight": "0"}, {"range": "shoe"}, {"stratum": "sex"}])
def test_options_are_checked(options):
    with pytest.raises(ParameterError):
        build(Request(options=options))


def test_one_sensitive_column_is_needed():
    schema = Schema(quasi_identifiers=["age"], sensitive=["town", "ill"])
    with pytest.raises(SchemaError, match="one sensitive column"):
        build(Request(given=read(own_table()), schema=schema))
