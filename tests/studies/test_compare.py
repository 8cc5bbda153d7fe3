import csv
import io
import json
import re

import numpy as np
import pyarrow as pa
import pytest

import undercover as uc
from pictures import drawing
from undercover import plugins
from undercover.errors import InternalError, OutputError, ParameterError
from undercover.model.table import Table
from undercover.pages.compare import compare_html, frontier_charts
from undercover.pages.svg import svg
from undercover.studies.compare import bench as compare_bench
from undercover.studies.compare.compare import CSV_COLUMNS, FILES, compare, compare_csv, frontiers
from undercover.studies.compare.plan import plan, without_sweep

QUICK = {"queries": 4}


@pytest.fixture(scope="module")
def census():
    return uc.datasets.census(600, seed=1), uc.datasets.census_schema(["age", "sex", "education"])


@pytest.fixture(scope="module")
def whole(census, tmp_path_factory):
    """A comparison of all methods: its folder and what it returned."""
    folder = tmp_path_factory.mktemp("compare") / "out"
    with drawing():
        return folder, compare(*census, folder, methods=list(plugins.BUILT_IN["methods"]), **QUICK)


def numbers(content):
    """Every number in a JSON document, as a page writes it."""
    if isinstance(content, dict):
        return {number for value in content.values() for number in numbers(value)}
    if isinstance(content, list):
        return {number for value in content for number in numbers(value)}
    return {repr(content)} if isinstance(content, int | float) and not isinstance(content, bool) else set()


def test_every_method_of_the_registry_has_a_sweep():
    assert without_sweep(plugins.BUILT_IN["methods"]) == []


def test_every_method_is_there_or_has_a_reason(whole):
    _, results = whole
    present = {release["method"] for release in results["releases"]} | {entry["method"] for entry in results["refused"]}
    assert present == set(plugins.BUILT_IN["methods"])
    assert all(entry["reason"] and entry["titles"] for entry in results["refused"])
    assert results["counts"]["releases"] == len(results["releases"])


def test_every_figure_of_the_page_is_in_the_json(whole):
    folder, _ = whole
    page, known = (folder / FILES[0]).read_text(), numbers(json.loads((folder / FILES[2]).read_text()))
    shown = re.findall(r'<data value="([^"]+)">', page)
    assert set(shown) <= known
    assert len(shown) > 200
    wrong = page.replace(f'<data value="{shown[40]}">', '<data value="0.123456">')  # the check can fail
    assert not set(re.findall(r'<data value="([^"]+)">', wrong)) <= known


def test_every_line_of_the_csv_is_in_the_json(whole):
    folder, results = whole
    lines = list(csv.DictReader(io.StringIO((folder / FILES[1]).read_text())))
    assert len(lines) == results["counts"]["releases"] + results["counts"]["refused"]
    for line, release in zip(lines, results["releases"], strict=False):
        for name, path in CSV_COLUMNS.items():
            value = release
            for step in path:
                value = value.get(step) if isinstance(value, dict) else None
            assert line[name] == ("" if value is None else str(value)), name


def test_the_page_is_whole_by_itself(whole):
    page = (whole[0] / FILES[0]).read_text()
    assert len(page) < 2_000_000
    assert not re.findall(r'(?:src|href)="(?!#)|url\((?!#)|@import|<link', page)
    assert page.count("<script>") == 1
    without_script = re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
    assert "Mondrian, k=5" in without_script
    assert "prefers-color-scheme: dark" in page
    assert "@media print" in page


def test_figures_are_what_they_are_called(whole):
    _, results = whole
    by_title = {release["title"]: release for release in results["releases"]}
    k5, k20 = by_title["Mondrian, k=5"], by_title["Mondrian, k=20"]
    assert k5["privacy"]["identity"]["worst"] <= 1 / 5
    assert k20["privacy"]["identity"]["mean"] < k5["privacy"]["identity"]["mean"]
    assert k20["utility"]["pairwise"]["mean"] > k5["utility"]["pairwise"]["mean"]
    assert k5["privacy"]["corruption"]["worst"] == 1.0
    assert by_title["Anatomy, l=4"]["privacy"]["attribute"]["worst"] <= 1 / 4 + 1e-12
    assert by_title["Anatomy, l=4"]["utility"]["iloss"] == 0.0
    drawn = by_title["Mutual cover, the paper's, delta=1/5"]
    assert set(drawn["privacy"]["identity"]["by_attack"]) == {"linkage", "partial-linkage", "informed"}
    assert "iloss" in drawn["notes"]
    assert drawn["utility"]["iloss"] is None
    perturbed = by_title["Perturbed generalization, p=0.15"]
    assert perturbed["privacy"]["corruption"]["worst"] < 0.5
    assert perturbed["utility"]["sum"]["bounds"] is None
    assert results["guessing"]["identity"] == 1 / 600
    assert results["original"]["identity"]["worst"] == 1.0
    assert [release["algorithm_safe"] for release in (k5, by_title["Mondrian, k=5, l=2"])] == [True, False]


def test_it_marks_what_satisfies_the_policy_and_recommends_one(whole):
    folder, results = whole
    assert {release["verdict"] for release in results["releases"]} >= {"Decide", "Do not publish"}
    for release in results["releases"]:
        assert release["satisfies"] == (release["verdict"] != "Do not publish")
    best = next(release for release in results["releases"] if release["title"] == results["recommended"]["title"])
    alike = [one for one in results["releases"] if one["satisfies"] and one["asks"] <= best["asks"]]
    assert best["utility"]["pairwise"]["mean"] == min(one["utility"]["pairwise"]["mean"] for one in alike)
    sentence = results["recommended"]["sentence"]
    assert sentence.startswith(f"Recommended: {best['title']}. It is {best['verdict']} under `standard`")
    page = (folder / FILES[0]).read_text()
    assert "Safe from somebody" in page
    assert page.index("Recommended: ") < page.index("Releases compared")
    point = results["frontiers"][0]["points"][0]
    assert point["worst"] >= point["risk"]


def test_distinct_values_and_closeness_are_compared(whole):
    _, results = whole
    titles = {release["title"] for release in results["releases"]}
    assert {"Mondrian distinct, k=5, l=4", "Mondrian t-close, k=5, t=0.2"} <= titles


def test_a_policy_that_nothing_satisfies_has_a_nearest(census, tmp_path):
    options = {"methods": ["anatomy"], **QUICK}
    strict = compare(*census, tmp_path / "out", policy="open", **options)
    assert not strict["recommended"]["satisfies"]
    assert "None of these satisfies `open`. Nearest: Anatomy, l=" in strict["recommended"]["sentence"]
    unjudged = compare(*census, tmp_path / "out", policy="none", **options)
    assert unjudged["timings"]["reused"] == 0
    assert unjudged["recommended"] is None
    own = [compare(*census, tmp_path / "out", policy={"found": found}, **options) for found in ("1/2", "1/3", "1/3")]
    assert [results["timings"]["reused"] > 0 for results in own] == [False, False, True]


def test_what_is_finished_is_not_measured_again(census, whole, monkeypatch):
    folder, results = whole

    def never(*_):
        raise AssertionError("measured again")

    monkeypatch.setattr(compare_bench.Bench, "release", never)
    again = compare(*census, folder, methods=list(plugins.BUILT_IN["methods"]), **QUICK)
    assert again["timings"]["reused"] == again["timings"]["cells"] == results["timings"]["cells"]
    assert again["releases"] == results["releases"]


def test_an_interrupted_comparison_goes_on(census, tmp_path, monkeypatch):
    real, calls = compare_bench.Bench.release, []

    def interrupted(self, method, parameters):
        calls.append(method)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return real(self, method, parameters)

    monkeypatch.setattr(compare_bench.Bench, "release", interrupted)
    options = {"methods": ["anatomy", "mondrian"], **QUICK}
    with pytest.raises(KeyboardInterrupt):
        compare(*census, tmp_path / "out", **options)
    assert not (tmp_path / "out" / FILES[2]).exists()
    stages = []
    results = compare(*census, tmp_path / "out", **options, progress=lambda stage, share: stages.append((stage, share)))
    assert results["timings"]["reused"] == 3  # the table as it is, and two releases
    assert len(calls) == 3 + 13
    shares = [share for stage, share in stages if stage.startswith("compare:")]
    assert shares == sorted(shares)
    assert shares[0] > 0  # what was kept counts as done
    assert shares[-1] == 1.0


def test_other_data_are_measured_anew(census, tmp_path):
    data, schema = census
    options = {"methods": ["anatomy"], **QUICK}
    compare(data, schema, tmp_path / "out", **options)
    other = compare(data.slice(0, 500), schema, tmp_path / "out", **options)
    assert other["timings"]["reused"] == 0
    assert compare(data, schema, tmp_path / "out", **options)["timings"]["reused"] == 4


def test_a_folder_of_somebody_else_is_left_alone(census, tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(OutputError, match="left alone"):
        compare(*census, tmp_path, methods=["anatomy"], **QUICK)


def test_roles_alone_are_enough(tmp_path):
    """No hierarchy, no declared domain, text: what cannot run is listed, and nothing fails."""
    draw = np.random.default_rng(1)
    data = pa.table({"age": draw.integers(20, 60, 300), "ill": draw.choice(["flu", "cold", "gout"], 300)})
    results = compare(data, uc.Schema(quasi_identifiers=["age"], sensitive="ill"), tmp_path / "out", **QUICK)
    reasons = {entry["method"]: entry["reason"] for entry in results["refused"]}
    assert "domain" in reasons["perturbed-generalization"]
    mondrian = next(release for release in results["releases"] if release["method"] == "mondrian")
    assert "no sensitive column has any" in mondrian["notes"]["sum"]
    assert mondrian["utility"]["sum"] is None
    assert mondrian["utility"]["classification"]["error"] > 0
    assert {release["value"] for release in results["releases"] if release["method"] == "anatomy"} == {2}
    page = (tmp_path / "out" / FILES[0]).read_text()
    assert "declared public domain" in page
    assert "no sensitive column has any" in page


def test_a_value_too_frequent_is_a_reason(tmp_path):
    data = pa.table({"age": list(range(40)), "ill": ["flu"] * 35 + ["cold"] * 5})
    results = compare(
        data, uc.Schema(quasi_identifiers=["age"], sensitive="ill"), tmp_path / "out", methods=["anatomy"], **QUICK
    )
    assert results["releases"] == []
    assert "the most frequent value of `ill` is 87.5% of the rows" in results["refused"][0]["reason"]
    assert "flu" not in results["refused"][0]["reason"]
    assert (tmp_path / "out" / FILES[0]).exists()


def test_without_a_sensitive_column(tmp_path):
    data = pa.table({"age": [i % 30 for i in range(200)], "sex": ["F", "M"] * 100})
    schema = uc.Schema(quasi_identifiers=["age", "sex"])
    results = compare(data, schema, tmp_path / "out", methods=["mondrian", "anatomy"], **QUICK)
    first = results["releases"][0]
    assert first["privacy"]["attribute"] is None
    assert first["privacy"]["corruption"] is None
    assert first["utility"]["pairwise"]["mean"] >= 0
    assert {entry["method"] for entry in results["refused"]} == {"anatomy", "mondrian"}
    assert [picture["id"] for picture in results["frontiers"]] == ["identity-pairwise"]


def test_several_sensitive_columns_and_missing_values(tmp_path):
    draw = np.random.default_rng(1)
    data = pa.table(
        {
            "age": pa.array(draw.integers(20, 60, 300), mask=draw.random(300) < 0.1),
            "town": pa.array(draw.choice(list("abcd"), 300), mask=draw.random(300) < 0.1),
            "ill": draw.choice(["flu", "cold", "gout"], 300),
            "pay": pa.array(draw.integers(1, 9, 300), mask=draw.random(300) < 0.1),
            "pet": draw.choice(["cat", "dog"], 300),
        }
    )
    schema = uc.Schema(
        quasi_identifiers=["age", "town"], sensitive=["ill", "pay"], insensitive=["pet"], missing="category"
    )
    results = compare(data, schema, tmp_path / "out", methods=["mondrian", "anatomy", "mutual-cover"], **QUICK)
    first = results["releases"][0]
    assert set(first["notes"]) == set()
    assert first["utility"]["sum"]["median"] >= 0
    assert all("one sensitive" in entry["reason"] for entry in results["refused"])


def test_the_method_of_the_spec_is_compared_as_well(census, tmp_path):
    own = ("mondrian", {"k": 7, "cut": "median"})
    results = compare(*census, tmp_path / "out", methods=["mondrian"], own=own, **QUICK)
    last = results["releases"][-1]
    assert (last["title"], last["parameters"]) == ("As in the spec", {"k": 7, "cut": "median"})


def test_a_bug_is_not_taken_for_a_refusal(census, tmp_path, monkeypatch):
    def broken(*_):
        raise InternalError("impossible")

    monkeypatch.setattr(compare_bench.Bench, "_counts", broken)
    with pytest.raises(InternalError):
        compare(*census, tmp_path / "out", methods=["anatomy"], **QUICK)


def test_what_would_take_too_long_has_a_reason(census, tmp_path, monkeypatch):
    monkeypatch.setattr(compare_bench, "MOST_PAIRS", 10)
    monkeypatch.setattr(compare_bench, "MOST_SUBSETS", 2)
    results = compare(*census, tmp_path / "out", methods=["mutual-cover"], **QUICK)
    first = results["releases"][0]
    assert {"informed", "partial-linkage"} <= set(first["notes"])
    assert first["privacy"]["identity"]["attack"] == "linkage"


def test_parameters_are_checked(census, tmp_path):
    with pytest.raises(ParameterError, match="Did you mean `mondrian`"):
        compare(*census, tmp_path / "out", methods=["mondrain"])
    with pytest.raises(ParameterError, match="queries"):
        compare(*census, tmp_path / "out", queries=0)


def test_sweeps_stay_within_what_the_table_allows():
    data = pa.table({"age": list(range(12)), "ill": ["flu", "cold", "gout", "rash"] * 3})
    table = Table.from_arrow(data, uc.Schema(quasi_identifiers=["age"], sensitive="ill"))
    planned = plan(table)
    assert {one.parameters["l"] for one in planned if one.method in ("anatomy", "cross-bucket")} == {2, 4}
    assert {one.value for one in planned if one.label == "Mondrian"} == {5, 10, 12}
    one_value = Table.from_arrow(
        pa.table({"age": [1, 2], "ill": ["flu", "flu"]}), uc.Schema(quasi_identifiers=["age"], sensitive="ill")
    )
    assert [one.value for one in plan(one_value, ["anatomy"])] == [2]  # kept, so that the method says why not


def test_a_method_nobody_has_set_values_for_is_listed(census, tmp_path, monkeypatch):
    monkeypatch.setattr("undercover.studies.compare.compare.without_sweep", lambda names: ["my-own"])
    results = compare(*census, tmp_path / "out", methods=["anatomy"], **QUICK)
    assert results["refused"][-1]["method"] == "my-own"


def test_the_frontier_is_what_nobody_beats():
    draw = np.random.default_rng(4)

    def one(name, risk, cost):
        return {
            "title": name,
            "series": "s",
            "value": name,
            "verdict": "Ready",
            "satisfies": True,
            "privacy": {"identity": {"mean": risk, "worst": 6}, "attribute": None},
            "utility": {"pairwise": {"mean": cost}, "count": None, "classification": None},
        }

    releases = [one(str(i), *draw.integers(1, 6, 2).tolist()) for i in range(20)]
    (picture,) = frontiers(releases, {"identity": 0.01})
    for point in picture["points"]:
        beaten = any(
            other["risk"] <= point["risk"]
            and other["cost"] <= point["cost"]
            and (other["risk"], other["cost"]) != (point["risk"], point["cost"])
            for other in picture["points"]
        )
        assert point["frontier"] != beaten


def test_pictures_are_drawn_of_what_is_in_the_json(whole):
    _, results = whole
    for picture, chart in zip(results["frontiers"], frontier_charts(results), strict=True):
        drawn = [{key: row[key] for key in picture["points"][0]} for row in chart.values]
        assert drawn == picture["points"]
        assert "nobody beats" in chart.sentence
        assert svg(chart).count("<path") >= len(picture["points"])


def test_text_is_escaped(whole):
    _, results = whole
    nasty = "<script>alert(1)</script>"
    content = json.loads(json.dumps(results))
    content["data"]["name"] = nasty
    content["releases"][0] |= {"title": nasty, "series": nasty, "notes": {"sum": nasty}}
    content["refused"] = [{"method": "m", "series": nasty, "titles": [nasty], "reason": nasty}]
    page = compare_html(content)
    assert page.count("<script>") == 1
    assert page.count("&lt;script&gt;") >= 6
    assert nasty in compare_csv(content)
