"""Looking for a sample of the people, for the worst off, and a bound: against looking for everybody."""

from __future__ import annotations

import re

import numpy as np
import pytest

import undercover as uc
from undercover.attacks import sampled
from undercover.forms.case import Case
from undercover.model.run import Run
from undercover.verbs.report import summarize

ROWS, SAMPLE = 4000, 1000
KNOWN = ["age", "sex", "education"]


@pytest.fixture(scope="module")
def people() -> object:
    return uc.datasets.census(ROWS, seed=3)


def published(people: object, method: object) -> Run:
    return uc.publish(people, uc.datasets.census_schema(KNOWN, "relationship", hierarchies=False), method, seed=1)


@pytest.fixture(scope="module", params=["mondrian", "streamliner", "anatomy"])
def run(people: object, request: pytest.FixtureRequest) -> Run:
    methods = {"mondrian": uc.Mondrian(k=5), "streamliner": uc.Streamliner(l=2), "anatomy": uc.Anatomy(l=2)}
    return published(people, methods[request.param])


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables of which not everybody is looked for begin early."""
    monkeypatch.setattr(sampled, "EVERYBODY", ROWS // 2)
    monkeypatch.setattr(sampled, "SAMPLE", SAMPLE)
    monkeypatch.setattr(sampled, "WORST_OFF", 50)


def test_a_sample_stands_for_everybody(run: Run) -> None:
    whole, some = uc.attack(run, uc.Linkage()), uc.attack(run, uc.Linkage(most=SAMPLE))
    assert whole.sampled is None
    assert some.sampled is not None
    assert some.sampled.of == ROWS
    assert len(some.rows) == SAMPLE
    place = {row: at for at, row in enumerate(whole.rows.tolist())}
    same = [place[row] for row in some.rows.tolist()]
    np.testing.assert_allclose(some.after.identity, whole.after.identity[same])
    np.testing.assert_allclose(some.before.identity, whole.before.identity[same])
    np.testing.assert_allclose(some.after.attribute["relationship"], whole.after.attribute["relationship"][same])
    told, truth = some.to_dict(), whole.to_dict()
    for side in ("before", "after"):
        for found, true in (
            (told[side]["identity"], truth[side]["identity"]),
            (told[side]["attribute"]["relationship"], truth[side]["attribute"]["relationship"]),
        ):
            low, high = found["interval"]
            wide = 2 * (high - low)  # 95% are not all; at twice the width a miss is one in ten thousand
            assert low - wide <= true["mean"] <= high + wide


def test_nobody_is_beyond_the_bound_and_the_worst_off_are_found(run: Run) -> None:
    whole, some = uc.attack(run, uc.Linkage()), uc.attack(run, uc.Linkage(most=SAMPLE))
    assert some.sampled is not None
    bound = some.sampled.at_most
    assert bound.found is not None
    assert whole.after.identity.max() <= bound.found + 1e-12
    assert whole.after.attribute["relationship"].max() <= bound.belief["relationship"] + 1e-12
    told = some.to_dict()["after"]
    assert told["attribute"]["relationship"]["max"] >= whole.after.attribute["relationship"].max() - 1e-12
    assert told["identity"]["at_most"] == bound.found


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("variant", ["layers", "paper"])
def test_where_rows_fit_by_chance_nothing_bounds_it(people: object, variant: str) -> None:
    """Values were moved, so that nobody's own row need fit: there is a sample, and no bound."""
    run = published(people, uc.MutualCover(delta="1/2", l=2, variant=variant))
    found = uc.attack(run, uc.Linkage())
    assert found.sampled is not None
    assert len(found.sampled.rows) == 0
    assert found.sampled.at_most.found is None
    whole = uc.attack(run, uc.Linkage(most=ROWS))
    low, high = found.to_dict()["after"]["identity"]["interval"]
    assert low - 2 * (high - low) <= whole.after.identity.mean() <= high + 2 * (high - low)
    assert run.verdict.reasons


def test_samples_differ_from_taking_the_first_rows_and_come_again(run: Run) -> None:
    table = Case.of(run).original
    drawn = sampled.drawn_people(table, SAMPLE)
    assert drawn is not None
    assert len(np.unique(drawn)) == SAMPLE
    assert drawn[-1] > ROWS * 0.9
    np.testing.assert_array_equal(drawn, sampled.drawn_people(table, SAMPLE))
    assert sampled.drawn_people(table, None) is None


@pytest.mark.usefixtures("few")
def test_a_verdict_by_a_sample_counts_about_as_many(people: object) -> None:
    run = published(people, uc.Mondrian(k=5))
    (reason,) = [reason for reason in run.verdict.reasons if reason.kind == "exposed"]
    assert reason.weight == "stop"
    whole = uc.attack(run, uc.Linkage(most=ROWS))
    column = Case.of(run).original["relationship"]
    prior = (np.bincount(column.codes) / ROWS)[column.codes]
    found = whole.after.attribute["relationship"]
    policy = run.policy
    assert policy.belief is not None
    true = int(((found >= float(policy.belief)) & (found - prior >= float(policy.gain))).sum())
    assert reason.people is not None
    assert 0.7 * true <= reason.people <= 1.4 * true
    assert "of a sample" in reason.text


@pytest.mark.usefixtures("few")
def test_a_bound_makes_a_sample_enough(people: object) -> None:
    verdict = published(people, uc.Mondrian(k=20, l=2)).verdict
    assert not [reason for reason in verdict.reasons if reason.kind in ("found", "exposed")]


@pytest.mark.usefixtures("few")
def test_where_nothing_bounds_it_what_was_not_looked_at_is_asked_about(
    people: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The planted case: a bound is missing, so that a sample with nothing in it is no proof."""
    from undercover.forms.disclosure import AtMost
    from undercover.forms.reading import Reading

    monkeypatch.setattr(Reading, "at_most", lambda *_: AtMost())
    verdict = published(people, uc.Mondrian(k=20, l=2)).verdict
    asked = [reason for reason in verdict.reasons if reason.kind in ("found", "exposed")]
    assert {reason.kind for reason in asked} == {"found", "exposed"}
    assert all(reason.weight == "ask" and "drawn from" in reason.text for reason in asked)


@pytest.mark.usefixtures("few")
def test_whoever_stands_alone_is_found_though_chance_misses_him(people: object) -> None:
    """One class of one value among thousands: the worst off are looked for besides the sample."""
    run = published(people, uc.Mondrian(k=5))
    found = uc.attack(run, uc.Linkage())
    assert found.sampled is not None
    assert found.to_dict()["after"]["attribute"]["relationship"]["max"] == 1.0
    assert found.worst_rows(1)[0]["attribute"]["relationship"] == 1.0


def test_the_page_says_what_was_sampled(run: Run) -> None:
    shown = re.sub("<[^>]*>", "", uc.attack(run, uc.Linkage(most=SAMPLE))._repr_html_())
    assert "1,000 of 4,000, drawn at random" in shown


@pytest.mark.usefixtures("few")
def test_a_report_of_a_sample_says_of_whom_it_speaks(people: object) -> None:
    run = published(people, uc.Mondrian(k=5))
    facts = summarize(run)
    told = re.sub("<[^>]*>", "", " ".join(stage["text"] for stage in facts["done"]["stages"]))
    assert "By linkage 1,000 rows of these, drawn at random." in told
    assert facts["riskiest"][0]["sampled"] is True
    # Every class has five rows, as the bound says, so nobody is worse off; nor is anybody surer than certain.
    assert "of_a_sample" not in facts["headline"]["identity"]
    assert "of_a_sample" not in facts["headline"]["attribute"]
    assert "with more than 100%" not in re.sub("<[^>]*>", "", uc.attack(run, uc.Linkage())._repr_html_())


@pytest.mark.usefixtures("few")
def test_without_a_bound_the_worst_case_is_that_of_the_people_looked_for(
    people: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    from undercover.forms.disclosure import AtMost
    from undercover.forms.reading import Reading
    from undercover.pages.render import report_html

    run = published(people, uc.Mondrian(k=20, l=2))
    assert "Worst case of the people looked for" not in report_html(summarize(run))
    monkeypatch.setattr(Reading, "at_most", lambda *_: AtMost())
    page = report_html(summarize(published(people, uc.Mondrian(k=20, l=2))))
    assert page.count("Worst case of the people looked for; others may be worse off.") == 2
    assert "Worst case for anybody" not in page


def test_charts_of_a_sample_count_everybody(run: Run) -> None:
    told = uc.attack(run, uc.Linkage(most=SAMPLE)).to_dict()
    for side in ("before", "after"):
        assert sum(entry["rows"] for entry in told["match_sizes"][side]) == ROWS
        assert sum(told["attribute_histogram"]["relationship"][side]) == ROWS


@pytest.mark.usefixtures("few")
def test_a_rate_of_a_sample_has_an_interval(people: object) -> None:
    (found,) = uc.attack(published(people, uc.MutualCover(delta="1/2", l=2, variant="paper")), uc.Linkage()).exposures()
    assert found.rate is not None
    assert found.interval is not None
    assert found.interval[0] <= found.rate < found.interval[1]
