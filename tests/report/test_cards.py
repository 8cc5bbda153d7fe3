from __future__ import annotations

import inspect
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import is_dataclass, replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pyarrow as pa
import pytest

import undercover as uc
from undercover import plugins
from undercover.attacks.corruption.true_values import OrdinaryCorruption
from undercover.attacks.joint.attack import JointRelease
from undercover.attacks.joint.correlation import known_correlation
from undercover.attacks.partial.attack import PartialKnowledge
from undercover.forms.answers.recipient import SumAnswer
from undercover.guarantees.joint.tables import foreign_table
from undercover.guarantees.verify import Verification, verify
from undercover.model import figures
from undercover.model.finding import Finding

NASTY = '<script>alert("`x`")</script>'
DATA = re.compile(r'<data value="([^"]*)">([^<]*)</data>')
CELL = re.compile(r'opacity:\.7">(?P<label>[^\n]*?)</td>\n(?P<cells>(?:<td[^\n]*</td>\n)+)')
RED, GREEN, BLUE = "#d55e00", "#009e73", "#0072b2"
ROUNDED = (figures.risk, figures.baseline, figures.number, figures.cost, figures.seconds)
WORDS = {"Schema", "Run", "Release", "Verification", "Decision"}  # whose cards are words


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    """One of everything a notebook user may hold, by the name of its class."""
    people = uc.datasets.census(800, seed=1)
    plain = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="income")
    mondrian = uc.publish(people, plain, uc.Mondrian(k=10, l=3), seed=1)
    crossed = uc.publish(people, plain, uc.CrossBucket(k=3, l=6), seed=1)
    perturbed = uc.publish(
        people, uc.datasets.census_schema(["age", "sex"]), uc.PerturbedGeneralization(k=6, p=0.3), seed=1
    )
    drawn = uc.publish(
        people,
        uc.datasets.census_schema(["age", "sex"], "salary", hierarchies=False),
        uc.MutualCover(variant="paper", delta="1/5", l=10),
        seed=1,
    )
    theirs = uc.published(uc.publish(people, plain, uc.Mondrian(k=100), seed=1), name="theirs")
    beside = uc.publish(people, uc.datasets.census_schema(["race"]), uc.NonCentralized(l=2, others=[theirs]), seed=1)
    permuted = uc.publish(people, plain, uc.MutualCover(delta="1/5", variant="blocks"), seed=1)
    sampled = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="income", population=0.1)
    where = {"age": uc.Between(30, 40), "sex": "Female"}
    held = [
        uc.attack(uc.publish(people, sampled, uc.Mondrian(k=10), seed=1), uc.Journalist()),
        uc.recommend(
            people, plain, methods=["anatomy", "streamliner"], policy={"found": "none", "singled_out": "none"}
        ),
        _accepted(people, plain),
        uc.inspect(people, plain),
        mondrian,
        mondrian.release,
        plain,
        uc.verify(mondrian),
        uc.attack(mondrian),
        uc.attack(crossed, uc.BucketMatching()),
        uc.attack(mondrian, PartialKnowledge()),
        uc.attack(mondrian, OrdinaryCorruption()),
        uc.attack(perturbed, uc.Corruption(shares=(0, 1))),
        uc.attack(drawn, uc.Informed()),
        uc.attack(drawn, uc.NearestRow(most=100)),
        uc.attack(permuted, uc.ToldGroups()),
        uc.attack(beside, uc.TablesBeside()),
        uc.attack(_six(uc.Mondrian(k=2, l=2, cut="median")), uc.AlgorithmAware(trials=100)),
        uc.attack(_six(uc.Streamliner(l=2, algorithm="guided")), uc.KnownValues(trials=300, sets=4)),
        uc.attack(_six(uc.Mondrian(k=2, l=2)), uc.Minimality()),
        uc.joint_risk(_offices()),
        uc.joint_attack([mondrian, crossed]),
        uc.centralized_risk([mondrian, crossed]),
        known_correlation([(3, 3, 4), (4, 3, 2)], (7, 7, 7), 4),
        uc.measure(people, mondrian, query_error=uc.QueryError(queries=20)),
        uc.QueryError(queries=20).of_release(mondrian.original, mondrian.release)["age", "sex"],
        uc.SumError(queries=5, columns=2).of_release(crossed.original, crossed.release),
        uc.answer(mondrian.release, uc.CountQuery(where=where)),
        uc.answer_sum(crossed.release, uc.SumQuery("income", where=where)),
        uc.PerturbedCounts(perturbed.release).count(where),
    ]
    found = {type(thing).__name__: thing for thing in held}
    assert len(found) == len(held)
    found["Loss"] = found["Measures"].loss["arx"]
    return {**found, "displacement": uc.measure(people, drawn), "anatomy": uc.publish(people, plain, uc.Anatomy(l=5))}


def _accepted(people: Any, schema: uc.Schema) -> Any:
    """A decision about a release that was withheld."""
    with tempfile.TemporaryDirectory() as folder:
        run = uc.publish(people, schema, uc.Mondrian(k=2), seed=1)
        return uc.accept(uc.save(run, Path(folder, "out")), because="A test", by="Tester")


def result_classes() -> set[type[Any]]:
    """What the exported verbs, attacks, measures and questions return, apart from plain data."""
    found: set[type[Any]] = set()
    things = [getattr(uc, name, None) for name in uc.__all__]
    things += [JointRelease, known_correlation]
    things += [plugins.load("attacks", name) for name in plugins.BUILT_IN["attacks"]]
    for thing in things:
        if inspect.isclass(thing):
            asked = [getattr(thing, verb, None) for verb in ("run", "of_release", "answer", "count", "sum", "mean")]
        else:
            asked = [thing]
        for function in filter(inspect.isfunction, asked):
            found |= set(_classes_in(_returned(function)))
    return {kind for kind in found if is_dataclass(kind) and hasattr(kind, "to_dict")} | {uc.Schema, uc.Run, uc.Release}


def _returned(function: Any) -> Any:
    hint = function.__annotations__.get("return")
    return eval(hint, inspect.unwrap(function).__globals__) if isinstance(hint, str) else hint


def _classes_in(hint: Any) -> Iterator[type[Any]]:
    if inspect.isclass(hint) and not get_args(hint):
        yield hint
    for part in get_args(hint):
        yield from _classes_in(part)


def test_the_search_for_results_finds_them() -> None:
    names = {kind.__name__ for kind in result_classes()}
    assert {"LinkageResult", "JointRisk", "CorrelationResult", "Measures", "Answer", "SumAnswer", "Estimate"} <= names
    assert {"QueryErrorResult", "SumErrorResult", "Verification", "InformedResult", "CorruptionResult"} <= names
    assert {"PartialKnowledgeResult", "OrdinaryCorruptionResult", "MinimalityResult"} <= names


def test_everything_exported_returns_something_with_a_card(results: dict[str, Any]) -> None:
    without = {kind.__name__ for kind in result_classes() if not hasattr(kind, "_repr_html_")}
    assert without == set(), "let it be Viewable"
    assert {kind.__name__ for kind in result_classes()} <= set(results), "and one to the fixture above"


def test_a_new_result_without_card_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = type("NewResult", (), {"to_dict": lambda self: {}, "__dataclass_fields__": {}})

    def attack() -> Any: ...

    attack.__annotations__ = {"return": kind}
    monkeypatch.setattr(uc, "new_attack", attack, raising=False)
    monkeypatch.setattr(uc, "__all__", [*uc.__all__, "new_attack"])
    assert kind in result_classes()
    assert not hasattr(kind, "_repr_html_")


def test_every_card_is_one_small_division(results: dict[str, Any]) -> None:
    for name in set(results) - {"displacement", "anatomy"}:
        card = results[name]._repr_html_()
        assert card.startswith("<div"), name
        assert card.rstrip().endswith("</div>"), name
        assert card.count("<div") == card.count("</div>"), name
        assert "<script" not in card, name
        assert len(card) < 12_000, name


@pytest.mark.parametrize(
    "name",
    [
        "displacement",
        *sorted({kind.__name__ for kind in result_classes()} - WORDS),
    ],
)
def test_every_figure_is_one_of_the_result(results: dict[str, Any], name: str) -> None:
    result = results[name]
    exact = {repr(value) for value in _numbers(result.to_dict())}
    shown = DATA.findall(result._repr_html_())
    assert len(shown) >= 2
    for value, text in shown:
        assert value in exact, f"{value} is not a figure of {name}.to_dict()"
        number = int(value) if re.fullmatch(r"-?\d+", value) else float(value)
        outwards = {f"{int(np.floor(number)):,}", f"{int(np.ceil(number)):,}"}
        assert text in {rounded(number) for rounded in ROUNDED} | outwards


def _numbers(entry: Any) -> Iterator[float]:
    if isinstance(entry, dict):
        entry = list(entry.values())
    if isinstance(entry, list | tuple):
        for part in entry:
            yield from _numbers(part)
    elif isinstance(entry, int | float) and not isinstance(entry, bool):
        yield entry


def test_linkage_card_has_each_figure_in_its_place(results: dict[str, Any]) -> None:
    found = results["LinkageResult"].to_dict()
    rows = _rows(results["LinkageResult"]._repr_html_())
    assert set(rows) == {
        "finds the person&#39;s row, worst case",
        "finds the person&#39;s row, on average",
        "people found with more than 20%",
        "people with a single match",
        "sure of <code>income</code>, worst case",
        "sure of <code>income</code>, on average",
        "guesses <code>income</code> right",
        "people whose <code>income</code> is certain",
        "people",
        "known of each",
    }
    before, after, guess = found["before"], found["after"], found["baseline"]
    assert rows["finds the person&#39;s row, worst case"] == [
        figures.risk(before["identity"]["max"]),
        figures.risk(after["identity"]["max"]),
        figures.baseline(guess["identity"]),
    ]
    assert rows["sure of <code>income</code>, on average"] == [
        figures.risk(before["attribute"]["income"]["mean"]),
        figures.risk(after["attribute"]["income"]["mean"]),
        figures.baseline(guess["attribute"]["income"]["mean"]),
    ]
    assert rows["people with a single match"] == [figures.number(before["identity"]["unique_rows"]), "0", "–"]


def _rows(card: str) -> dict[str, list[str]]:
    return {
        match["label"]: [re.sub(r"<[^>]+>", "", cell) for cell in match["cells"].splitlines()]
        for match in CELL.finditer(card)
    }


def test_bars_are_as_long_as_the_figures(results: dict[str, Any]) -> None:
    card = results["LinkageResult"]._repr_html_()
    bars = re.findall(r'<data value="([^"]*)">[^<]*</data><div [^>]*><div style="[^"]*width:([\d.]+)%', card)
    assert len(bars) == 17
    assert [float(width) for _, width in bars] == [round(100 * float(value), 1) for value, _ in bars]


def test_the_edge_is_the_verdict(results: dict[str, Any]) -> None:
    sure = uc.attack(results["anatomy"])._repr_html_()
    assert "Linkage: somebody is certain" in sure
    assert _edge(sure) == RED
    assert _edge(results["LinkageResult"]._repr_html_()) == BLUE  # l = 3: somebody is known with a third
    few = results["LinkageResult"]
    none = {name: np.minimum(found, 0.2) for name, found in few.after.attribute.items()}
    assert _edge(replace(few, after=replace(few.after, attribute=none))._repr_html_()) == GREEN
    assert _edge(results["AlgorithmAwareResult"]._repr_html_()) == RED
    safe = uc.attack(_six(uc.Streamliner(l=2)), uc.AlgorithmAware(trials=100))._repr_html_()
    assert "Knowing the algorithm: it does not help" in safe
    assert _edge(safe) == GREEN
    assert _edge(results["MinimalityResult"]._repr_html_()) == RED
    believed = replace(results["MinimalityResult"], low=np.full(6, 0.6))  # 1/2 is promised
    assert "refused cuts give more away than is promised" in believed._repr_html_()
    nothing = uc.attack(_six(uc.Mondrian(k=2)), uc.Minimality())._repr_html_()
    assert "refused cuts give nothing away" in nothing
    assert _edge(nothing) == GREEN
    assert _edge(results["JointRisk"]._repr_html_()) == RED
    assert _edge(results["CorruptionResult"]._repr_html_()) == GREEN


def test_corruption_card_tells_a_broken_promise(results: dict[str, Any]) -> None:
    found = results["CorruptionResult"]
    broken = replace(found, sweep=tuple({**entry, "bound": entry["growth"]["max"] / 2} for entry in found.sweep))
    shown = broken._repr_html_()
    assert "Corruption: more than is promised" in shown
    assert _edge(shown) == RED


def test_what_needed_the_original_is_marked_private(results: dict[str, Any]) -> None:
    public = {"Answer", "SumAnswer", "Estimate", "JointRisk", "CorrelationResult", "Release", "Schema", "Verification"}
    marked = {name for name in set(results) - {"displacement", "anatomy"} if "(private)" in results[name]._repr_html_()}
    assert marked == set(results) - {"displacement", "anatomy"} - public


def test_sums_without_bounds_and_measures_of_drawn_values(results: dict[str, Any]) -> None:
    assert "without bounds" in SumAnswer(estimate=12.5)._repr_html_()
    shown = results["displacement"]._repr_html_()
    assert ">values moved</th>" in shown
    assert "cells changed" in shown


def _edge(card: str) -> str:
    found = re.search(r"border-left:4px solid (#\w+)", card)
    assert found
    return found[1]


def _six(method: Any) -> uc.Run:
    data = pa.table({"age": [0, 0, 1, 1, 1, 1], "disease": ["flu", "flu", "cold", "gout", "rash", "ulcer"]})
    return uc.publish(data, uc.Schema(quasi_identifiers=["age"], sensitive="disease"), method)


def _offices(name: str = "age") -> list[Any]:
    ages = pa.table({name: ["old", "old", "young", "young"], "pay": ["high", "low", "low", "middle"]})
    towns = pa.table({"zip": ["1", "1", "2", "2"], "pay": ["high", "low", "low", "middle"]})
    return [foreign_table(ages, NASTY, sensitive="pay"), foreign_table(towns, "census", sensitive="pay")]


def test_the_model_has_cards(make_run):
    run = make_run()
    for thing in (run, run.release, run.schema, verify(run.release)):
        assert thing._repr_html_().startswith("<div")


def test_run_card_warns_and_release_card_tells_nothing_private(make_run, secrets, secret_seed):
    run = make_run(seed=secret_seed)
    assert "reproducible: not for publication" in run._repr_html_()
    assert "(private)" in run._repr_html_()
    shown = run.release._repr_html_()
    assert [what for what, secret in secrets.items() if secret in shown] == []
    assert "10-anonymity" in shown


def test_cards_escape(make_run):
    run = make_run(rename={"age": "<script>"})
    assert "<script>" not in run.schema._repr_html_() + run._repr_html_()
    assert "&lt;script&gt;" in run.schema._repr_html_()


def test_cards_of_results_escape_columns_and_names() -> None:
    people = uc.datasets.census(300, seed=1).select(["age", "income"]).rename_columns([NASTY, f"{NASTY} pay"])
    schema = uc.Schema(quasi_identifiers=[NASTY], sensitive=f"{NASTY} pay")
    run = uc.publish(people, schema, uc.Mondrian(k=5), seed=1)
    bucketed = uc.publish(people, schema, uc.CrossBucket(k=2, l=4), seed=1)
    sums = uc.SumError(queries=3, columns=1)
    cards = [
        uc.attack(run)._repr_html_(),
        uc.measure(people, run, query_error=uc.QueryError(queries=3))._repr_html_(),
        uc.attack(bucketed, uc.BucketMatching())._repr_html_(),
        uc.joint_risk(_offices(NASTY))._repr_html_(),
        sums.of_release(bucketed.original, bucketed.release)._repr_html_(),
    ]
    for card in cards:
        assert "<script" not in card
        assert "&lt;script&gt;" in card


def test_verification_card_tells_failing_open_and_problems():
    findings = (
        Finding("k-anonymity", {"k": 5}, 5, 3, False),
        Finding("delta-probability", {"delta": 0.2}, 0.2, needs="private"),
        Finding("rows-covered", {}, holds=True),
    )
    shown = Verification(findings, problems=("`table.csv` was changed.",))._repr_html_()
    assert "Verification: fails" in shown
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", shown))
    assert "k-anonymity at least 5 3 DOES NOT HOLD" in text
    assert "delta-probability at least 0.2 unknown needs the private run" in text
    assert "rows-covered – unknown holds" in text
    assert "problem: <code>table.csv</code> was changed." in shown


def test_verification_is_never_green_for_a_promise_is_no_permission() -> None:
    holds, open_ = (
        Finding("k-anonymity", {"k": 2}, 2, 3, True),
        Finding("delta-probability", {"delta": 0.2}, 0.2, needs="private"),
    )
    assert "everything holds" in Verification((holds,))._repr_html_()
    assert _edge(Verification((holds,))._repr_html_()) == BLUE
    shown = Verification((holds, open_))._repr_html_()
    assert "nothing fails, not everything can be told" in shown
    assert _edge(shown) == BLUE


def test_importing_the_room_loads_no_heavy_part():
    heavy = "altair, vl_convert, jinja2, pandas, polars, numba, duckdb"
    code = f"import sys, undercover.pages; print([m for m in '{heavy}'.split(', ') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
