from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import undercover as uc
from undercover.guarantees.k_anonymity import KAnonymity
from undercover.guarantees.verify import Verification, verify
from undercover.io.plain import as_json, plain
from undercover.model.finding import Finding
from undercover.model.policy import POLICIES, STANDARD
from undercover.model.verdict import Reason, Verdict
from undercover.pages.datasheet import datasheet_summary
from undercover.pages.sections import histogram
from undercover.pages.summary import card_colours, headline, summarize


def test_summary_is_json_and_private(make_run, summary_of):
    summary = summary_of(make_run())
    figures = {name: content for name, content in summary.items() if name != "sections"}  # these are views
    assert json.loads(json.dumps(figures, allow_nan=False)) == figures
    assert json.loads(as_json(summary))["sections"] == [plain(view) for view in summary["sections"]]
    assert summary["private"] is True


def test_counts_add_up(make_run, summary_of):
    counts = summary_of(make_run())["done"]["counts"]
    assert counts == {"read": 405, "dropped": 5, "published": 400, "classes": 40, "suppressed": 0}


def test_suppressed_rows_are_not_counted_as_left_out():
    ages = [None, None, None, *([30] * 6), *([40] * 6), 99]
    people = pa.table({"age": ages, "ill": ["flu", "cold"] * 8})
    tree = uc.Hierarchy([(str(age), "*") for age in (30, 40, 99)])
    schema = uc.Schema(
        quasi_identifiers="age", sensitive="ill", missing="drop", columns={"age": uc.Column(hierarchy=tree)}
    )
    made = uc.publish(people, schema, uc.Incognito(k=5, suppression=0.1), policy="none")
    done = summarize(made, verification=verify(made.release))["done"]
    assert done["counts"] == {"read": 16, "dropped": 3, "published": 12, "classes": 2, "suppressed": 1}
    stages = {stage["title"]: stage["text"] for stage in done["stages"]}
    assert stages["Left out"].startswith("3 rows")
    assert stages["Suppressed"].startswith("1 row ")


def test_stages_say_the_numbers(make_run, summary_of):
    stages = {stage["title"]: stage["text"] for stage in summary_of(make_run())["done"]["stages"]}
    assert "405 rows were read from ward-7-secret-file.csv" in stages["Read"]
    assert stages["Left out"].startswith("5 rows")
    assert "40 classes" in stages["Grouped"]
    assert "400 rows" in stages["Published"]


def test_findings_keep_what_verification_found(make_run, summary_of):
    run = make_run()
    (finding,) = summary_of(run)["holds"]["findings"]
    (found,) = verify(run.release).findings
    assert (finding["required"], finding["actual"], finding["holds"]) == (found.required, found.actual, found.holds)
    assert finding["shown"] == found.shown()
    assert finding["title"] == "10-anonymity"
    assert "40 classes" in finding["how"]


def test_failed_promise_lists_its_violators(make_run):
    run = make_run()
    summary = summarize(run, verification=verify(run.release, [KAnonymity(k=11)]))
    assert summary["promises"]["holds"] is False
    assert summary["promises"]["text"].startswith("1 of 2 promises hold")
    assert summary["holds"]["findings"][1]["violating_classes"] == 40
    assert len(summary["holds"]["findings"][1]["examples"]) == 10


def test_infinite_and_unknown_findings_stay_json(make_run):
    findings = (
        Finding("t-closeness", {"t": 0.2}, 0.2, float("inf"), False, sense="at most"),
        Finding("delta-probability", {"delta": 0.2}, 0.2, needs="private"),
    )
    summary = summarize(make_run(), verification=Verification(findings))
    as_json(summary)
    assert [finding["shown"] for finding in summary["holds"]["findings"]] == ["∞", "unknown"]
    assert summary["promises"]["undecided"] == 1


def test_class_sizes_are_those_of_the_published_table(make_run, make_anatomy, summary_of):
    sizes = summary_of(make_run())["class_sizes"]
    assert (sizes["unit"], sizes["min"], sizes["max"], sizes["median"]) == ("class", 10, 10, 10.0)
    assert sizes["histogram"] == [{"from": 10, "to": 10, "classes": 40, "rows": 400}]
    assert summary_of(make_anatomy())["class_sizes"]["unit"] == "bucket"


@pytest.mark.parametrize("seed", range(5))
def test_histogram_loses_no_class(seed):
    print(f"seed {seed}")
    sizes = np.random.default_rng(seed).pareto(1.0, 2000).astype(np.int64) * 7 + 5
    bins = histogram(sizes)
    assert sum(bin_["classes"] for bin_ in bins) == len(sizes)
    assert sum(bin_["rows"] for bin_ in bins) == sizes.sum()
    assert bins[0]["from"] == sizes.min()
    for bin_ in bins:
        inside = sizes[(sizes >= bin_["from"]) & (sizes <= (bin_["to"] or sizes.max()))]
        assert (len(inside), inside.sum()) == (bin_["classes"], bin_["rows"])


def test_histogram_by_hand():
    assert histogram(np.array([5, 5, 6])) == [
        {"from": 5, "to": 5, "classes": 2, "rows": 10},
        {"from": 6, "to": 6, "classes": 1, "rows": 6},
    ]
    assert histogram(np.array([5] * 1000 + [9000]))[-1] == {"from": 29, "to": None, "classes": 1, "rows": 9000}


def test_headline_is_the_worst_row_beside_guessing(make_run, summary_of, linkage):
    headline = summary_of(make_run())["headline"]
    attack = linkage(("income",))
    assert headline["identity"]["after"] == attack["after"]["identity"]["max"]
    assert headline["identity"]["baseline"] == attack["baseline"]["identity"]
    assert headline["attribute"]["after"] == attack["after"]["attribute"]["income"]["max"]
    assert headline["attribute"]["baseline"] == attack["baseline"]["attribute"]["income"]["guess_success"]


def test_cost_is_what_was_measured(make_run, summary_of):
    cost = summary_of(make_run())["cost"]
    assert [column["name"] for column in cost["columns"]] == ["age", "sex"]
    for column in cost["columns"]:
        assert {kind: column[kind] for kind in cost["loss"]} == {
            kind: loss["per_column"][column["name"]] for kind, loss in cost["loss"].items()
        }


def test_warnings_come_loudest_first_and_once(make_run, summary_of, secret_seed):
    run = make_run(seed=secret_seed, algorithm_safe=False)
    run = replace(run, warnings=(*run.warnings, "Reproducible: not for publication.", "Not algorithm-safe: it is not."))
    warnings = summary_of(run)["warnings"]
    assert [warning["level"] for warning in warnings] == ["danger", "danger", "caution", "caution"]
    assert warnings[0]["title"] == "Reproducible: not for publication"
    assert warnings[1]["title"] == "Several rows per person: name"
    assert "2 rows share" in warnings[1]["text"]
    assert warnings[3]["text"] == "A warning with `code` in it."


def test_warnings_of_a_run_without_its_original_are_kept(make_run):
    run = replace(make_run(), original=None, warnings=("Identifier `name` repeats: 2 rows.",))
    texts = [warning["text"] for warning in summarize(run, verification=verify(run.release))["warnings"]]
    assert texts == ["Identifier `name` repeats: 2 rows."]


def test_columns_not_published_are_named(make_run, summary_of):
    assert summary_of(make_run())["not_published"] == [
        {"name": "name", "reason": "identifier"},
        {"name": "shoe size", "reason": "no role"},
    ]


def test_limits_follow_from_what_is_promised(make_run, make_anatomy, summary_of):
    assert any("Nothing is promised about sensitive values" in text for text in summary_of(make_run())["limits"])
    assert any("no secret who is in the table" in text for text in summary_of(make_anatomy())["limits"])
    assert not any("Nothing is promised" in text for text in summary_of(make_run(sensitive=()))["limits"])
    assert any("not algorithm-safe" in text for text in summary_of(make_run(algorithm_safe=False))["limits"])


def test_datasheet_summary_is_json_and_public(make_run):
    summary = datasheet_summary(make_run().release)
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    assert summary["private"] is False
    assert summary["tables"][0]["rows"] == 400
    assert set(summary["forms"]) == {"interval", "set", "value"}


def test_datasheet_summary_drops_a_seed_wherever_it_hides(make_run, secret_seed):
    release = make_run().release
    release = replace(
        release,
        parameters={**release.parameters, "seed": secret_seed},
        guarantees=tuple({**entry, "seed": secret_seed, "note": f"row {secret_seed}"} for entry in release.guarantees),
    )
    assert str(secret_seed) not in json.dumps(datasheet_summary(release))


def test_the_headline_is_that_of_everybody_where_nothing_was_drawn(linkage):
    sampled = {"p": 1.0, "identity": {"mean": 0.9, "max": 0.9}, "attribute": {"income": {"mean": 0.9, "max": 0.9}}}
    everybody = linkage(("income",))
    curve = {"attack": "p-match", "drawn": False, "sweep": [sampled]}
    assert headline([everybody, curve]) == headline([everybody])
    assert headline([everybody, {**curve, "drawn": True}])["identity"]["after_mean"] == 0.9


@pytest.mark.parametrize(
    ("after", "stops", "news"),
    [
        ((0.2, 0.5), (), ("good", "good")),
        ((0.21, 0.9), ("found", "exposed"), ("bad", "bad")),
        ((0.21, 0.95), (), ("", "")),  # let pass by the verdict: it takes more than a figure to be exposed
        ((0.1, 0.1), ("found",), ("", "good")),  # another attack found somebody
    ],
)
def test_cards_have_the_colour_of_the_policy_and_never_that_of_another_verdict(after, stops, news):
    verdict = Verdict(STANDARD, tuple(Reason(kind=kind, weight="stop", text="") for kind in stops))
    cards = card_colours(verdict, {"identity": {"after": after[0]}, "attribute": {"after": after[1]}})
    assert (cards["identity"], cards["attribute"]) == (
        {"limit": 0.2, "news": news[0]},
        {"limit": 0.9, "news": news[1]},
    )


def test_cards_without_figures_or_limits_have_no_colour():
    nothing = {"identity": {"limit": None, "news": ""}, "attribute": {"limit": None, "news": ""}}
    assert card_colours(Verdict(POLICIES["none"], ()), {"identity": {"after": 1.0}, "attribute": None}) == nothing
    assert card_colours(Verdict(STANDARD, ()), None)["identity"] == {"limit": 0.2, "news": ""}
