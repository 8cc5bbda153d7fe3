"""The mutual cover experiment: what a cell measures, how claims are judged, and a quick run from end to end."""

import pytest

from undercover.attacks.partial.profile import PAPERS
from undercover.datasets import census, census_schema
from undercover.errors import ParameterError
from undercover.io.source import read
from undercover.model.table import Table
from undercover.studies.experiments.experiment import Row, Rows
from undercover.studies.experiments.papers.mutual_cover.bench import (
    ABOVE_DELTA,
    ALIKE,
    ALONE,
    ANATOMY,
    BLOCKS,
    COVER,
    ERROR,
    ESTIMATE,
    GROUPS,
    ILOSS,
    ILOSS_CELLS,
    IN_GROUP,
    KNOWS_ROW,
    LAYERS,
    MEDIAN,
    MONDRIAN,
    RESAMPLED,
    SAFE,
    Bench,
    attribute_at,
    identity_at,
    method_of,
)
from undercover.studies.experiments.papers.mutual_cover.claims import ALONG, BY_DELTA, BY_L, claims
from undercover.studies.experiments.papers.mutual_cover.experiment import QUASI_IDENTIFIERS, build
from undercover.studies.experiments.request import Request
from undercover.studies.experiments.runner import run_experiment

RISE_AND_FALL = (0.01, 0.02, 0.03, 0.028, 0.02, 0.0)


def bench(rows: int = 600) -> Bench:
    schema = census_schema(QUASI_IDENTIFIERS, "salary", hierarchies=False)
    return Bench(load=lambda: Table.from_arrow(census(rows, seed=1), schema), queries=20)


def test_a_cell_measures_everything_of_a_release():
    small = bench()
    methods = (COVER, RESAMPLED, ALONE, MONDRIAN, ANATOMY)
    found = {method: small.measure(method, "1/5", 5, seed=3) for method in methods}
    for figures in found.values():
        assert all(0 <= figures[name(p)] <= 1 for p in PAPERS for name in (identity_at, attribute_at))
        assert figures[ERROR] > 0
    assert ILOSS not in found[ANATOMY]
    assert KNOWS_ROW not in found[MONDRIAN]
    assert found[COVER][KNOWS_ROW] > found[COVER][IN_GROUP]
    assert found[ALONE][ILOSS] < found[RESAMPLED][ILOSS]
    assert found[ALONE][ABOVE_DELTA] == 0 < found[COVER][ABOVE_DELTA] <= 1
    assert small.measure(COVER, "1/5", 5, seed=3) == found[COVER]
    assert small.measure(COVER, "1/5", 5, seed=4) != found[COVER]


def test_a_series_says_which_variant_it_is_and_what_becomes_of_unchanged_rows():
    ways = {COVER: "paper", RESAMPLED: "resample", ALONE: "off"}
    assert {series: method_of(series, "1/6", 10).unchanged for series in ways} == ways
    assert {method_of(series, "1/6", 10).variant for series in ways} == {"paper"}
    assert [method_of(series, "1/6", 10).variant for series in SAFE] == ["layers", "blocks", "groups"]


def test_our_variants_are_measured_beside_the_papers():
    small = bench()
    found = {series: small.measure(series, "1/5", 5, seed=3) for series in SAFE}
    for figures in found.values():
        assert figures[ILOSS] > 0
        assert figures[ESTIMATE] > 0
        assert KNOWS_ROW not in figures
    assert found[BLOCKS][ILOSS_CELLS] == found[BLOCKS][ILOSS]
    assert found[GROUPS][ILOSS_CELLS] == found[GROUPS][ILOSS]
    # Where sensitive values are permuted on top, their owner is farther away than whose place it is.
    assert found[LAYERS][ILOSS_CELLS] < found[LAYERS][ILOSS]
    assert small.costs(LAYERS, "1/5", 5, seed=3).items() <= found[LAYERS].items()


def measured(
    by_delta: dict[str, dict[str, tuple[float, float]]],
    by_l: dict[str, dict[str, tuple[float, float]]],
    along: dict[str, dict[str, tuple[float, float]]],
) -> Rows:
    """Two places each: 1/δ = 5 and 10, l = 10 and 20."""
    rows = [
        Row("mutual-cover", figure, series, x, measure, value)
        for figure, found in ((BY_DELTA, by_delta), (ALONG, along))
        for series, figures in found.items()
        for measure, values in figures.items()
        for x, value in zip((5, 10), values, strict=True)
    ]
    rows += [
        Row("mutual-cover", BY_L, series, x, measure, value)
        for series, figures in by_l.items()
        for measure, values in figures.items()
        for x, value in zip((10, 20), values, strict=True)
    ]
    return Rows(tuple(rows))


def as_the_paper_says() -> Rows:
    peaks = {
        name(p): (value, 0.9 * value)
        for name in (identity_at, attribute_at)
        for p, value in zip(PAPERS, RISE_AND_FALL, strict=True)
    }
    others = {name(p): (0.05, 0.05) for name in (identity_at, attribute_at) for p in PAPERS}
    cover = {
        **peaks, ILOSS: (10.0, 20.0), ERROR: (0.2, 0.21), MEDIAN: (0.1, 0.1), ALIKE: (0.0, 0.0), ESTIMATE: (0.1, 0.1),
        KNOWS_ROW: (0.6, 0.3), IN_GROUP: (0.05, 0.05), ABOVE_DELTA: (0.6, 0.7),
    }  # fmt: skip
    return measured(
        {
            COVER: cover,
            RESAMPLED: {ILOSS: (8.0, 18.0), ABOVE_DELTA: (0.3, 0.3)},
            ALONE: {ILOSS: (5.0, 15.0)},
            MONDRIAN: {**others, ILOSS: (50.0, 90.0), ERROR: (5.0, 9.0), ESTIMATE: (0.5, 0.6)},
            ANATOMY: {ERROR: (1.0, 2.0), ESTIMATE: (0.4, 0.4)},
            BLOCKS: {ILOSS: (6.0, 11.0)},
        },
        {COVER: {ILOSS: (15.0, 10.0), ERROR: (0.20, 0.22)}, ALONE: {ILOSS: (8.0, 4.0)}},
        {COVER: {ILOSS: (4.0, 5.0)}, MONDRIAN: {ILOSS: (17.0, 20.0)}},
    )


def changed(rows: Rows, figure: str, series: str, measure: str, x: float, value: float) -> Rows:
    fits = [row for row in rows if (row.figure, row.series, row.measure, row.x) == (figure, series, measure, x)]
    assert len(fits) == 1
    return Rows((*tuple(row for row in rows if row is not fits[0]), Row("e", figure, series, x, measure, value)))


def verdicts(rows: Rows) -> dict[str, str]:
    return {claim.id: claim.judged(rows).verdict for claim in claims()}


def test_all_claims_hold_where_all_is_as_the_paper_says():
    assert set(verdicts(as_the_paper_says()).values()) == {"held"}


@pytest.mark.parametrize(
    ("claim", "figure", "series", "measure", "x", "value"),
    [
        ("identity-peaks", BY_DELTA, COVER, identity_at(0.5), 5, 0.035),
        ("identity-peaks", BY_DELTA, COVER, identity_at(0.8), 5, 0.021),
        ("attribute-peaks", BY_DELTA, COVER, attribute_at(0.9), 10, 0.03),
        ("nobody-found-by-everything", BY_DELTA, COVER, identity_at(1.0), 5, 1e-6),
        ("identity-falls-with-delta", BY_DELTA, COVER, identity_at(0.7), 10, 0.031),
        ("attribute-falls-with-delta", BY_DELTA, COVER, attribute_at(0.7), 10, 0.031),
        ("mondrian-identity-is-attribute", BY_DELTA, MONDRIAN, attribute_at(0.3), 5, 0.0501),
        ("iloss-grows", BY_DELTA, COVER, ILOSS, 10, 9.0),
        ("iloss-below-mondrian", BY_DELTA, MONDRIAN, ILOSS, 5, 15.0),
        ("iloss-below-mondrian-along-hierarchies", ALONG, MONDRIAN, ILOSS, 10, 9.0),
        ("blocks-lose-less", BY_DELTA, BLOCKS, ILOSS, 10, 21.0),
        ("answers-better", BY_DELTA, ANATOMY, ESTIMATE, 10, 0.15),
        ("answers-better-than-bounds", BY_DELTA, ANATOMY, ERROR, 10, 0.3),
        ("error-flat-in-delta", BY_DELTA, COVER, ERROR, 10, 0.5),
        ("larger-l-less-loss", BY_L, COVER, ILOSS, 20, 16.0),
        ("tables-alone-lose-less", BY_L, ALONE, ILOSS, 20, 9.0),
        ("tables-alone-lose-less", BY_DELTA, ALONE, ILOSS, 10, 4.0),
        ("larger-l-more-error", BY_L, COVER, ERROR, 20, 0.1),
        ("l-costs-little", BY_L, COVER, ERROR, 20, 0.4),
        ("hidden-process", BY_DELTA, COVER, KNOWS_ROW, 10, 0.05),
        ("algorithm-3-breaks-delta", BY_DELTA, COVER, ABOVE_DELTA, 5, 0.4),
        ("drawn-again-loses-less", BY_DELTA, RESAMPLED, ILOSS, 10, 20.5),
    ],
)
def test_a_figure_that_contradicts_a_claim_is_noticed(claim, figure, series, measure, x, value):
    assert verdicts(changed(as_the_paper_says(), figure, series, measure, x, value))[claim] == "not held"


def test_safer_than_mondrian_counts_pairs():
    rows = as_the_paper_says()
    for p in PAPERS:
        rows = changed(rows, BY_DELTA, MONDRIAN, attribute_at(p), 10, 0.001)
    assert verdicts(rows)["attribute-safer-than-mondrian"] == "not held"
    assert verdicts(rows)["identity-safer-than-mondrian"] == "held"  # the other yardstick


def test_both_distances_of_categories_are_judged_apart():
    """Flat, mutual cover loses more than Mondrian; along trees less: two claims, two verdicts."""
    rows = as_the_paper_says()
    for x, ours, theirs in ((5, 20_184.0, 12_591.0), (10, 25_000.0, 13_000.0)):
        rows = changed(changed(rows, BY_DELTA, COVER, ILOSS, x, ours), BY_DELTA, MONDRIAN, ILOSS, x, theirs)
    found = verdicts(rows)
    assert found["iloss-below-mondrian"] == "not held"
    assert found["iloss-below-mondrian-along-hierarchies"] == "held"


def test_what_was_not_measured_cannot_be_judged():
    assert set(verdicts(Rows(())).values()) == {"cannot be tested"}


def test_a_quick_run_from_end_to_end(tmp_path):
    experiment = build(Request(quick=True, rows=600))
    found = run_experiment(experiment, tmp_path)
    assert found["refused"] == []
    assert {claim["verdict"] for claim in found["claims"]} <= {"held", "not held"}
    by_claim = {claim["id"]: claim for claim in found["claims"]}
    assert by_claim["mondrian-identity-is-attribute"]["verdict"] == "not held"
    assert by_claim["iloss-grows"]["verdict"] == "held"
    assert {row["series"] for row in found["rows"] if row["figure"] == ALONG} == {COVER, *SAFE, MONDRIAN}
    page = (tmp_path / "experiment.html").read_text()
    assert "Somebody who knows groups and tables" in page
    assert run_experiment(experiment, tmp_path)["timings"]["reused"] == len(experiment.cells)


def test_a_table_of_ones_own():
    people = census(400, seed=2).select(["age", "sex", "race", "income"])
    schema = census_schema(("age", "sex", "race"), "income", hierarchies=False)
    experiment = build(Request(given=read(people), schema=schema, quick=True))
    assert experiment.private
    assert ALONG not in {cell.figure for cell in experiment.cells}  # its own schema says how far categories are apart
    figures = experiment.cells[0].measure(**experiment.cells[0].parameters)
    assert 0 < figures[KNOWS_ROW] <= 1


def test_unknown_options_are_refused():
    with pytest.raises(ParameterError, match="hierarchies"):
        build(Request(options={"hierarchy": "yes"}))
    assert build(Request(quick=True, options={"hierarchies": "yes"})).data["generator"]["hierarchies"] == "yes"
