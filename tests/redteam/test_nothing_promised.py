"""Once `undercover verify` ended with 0 and "everything holds" where nothing was promised or nothing could be checked.

k = 1, l = 1 and t = 1 ask for nothing, and of δ-probability published tables show nothing: exit code 6.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from tampering import PEOPLE, SCHEMA, run_verify, save_honestly

import undercover as uc
from undercover.forms.classes import classes_of_table
from undercover.guarantees.checking import Checkable
from undercover.guarantees.disjoint import DisjointCells
from undercover.guarantees.requirements import guarantee_from_mapping

CLASSES = classes_of_table(PEOPLE, ["age", "sex"], ["disease"], suppressed_is_star=True)

EMPTY: list[dict[str, Any]] = [
    {"name": "k-anonymity", "k": 1},
    {"name": "l-diversity", "l": 1},
    {"name": "l-diversity", "l": 1, "form": "distinct"},
    {"name": "l-diversity", "l": 1, "form": "recursive", "c": 1},
    {"name": "kl-anonymity", "k": 1, "l": 1},
    {"name": "t-closeness", "t": 1},
    {"name": "beta-likeness", "beta": 240},
    {"name": "delta-probability", "delta": 1},
    {"name": "owner-cover", "delta": 1},
    {"name": "delta-growth", "growth": 1, "p": 0.3, "domain": 6},
    {"name": "joint-diversity", "l": 1},
    {"name": "disjoint-cells"},
]
ASKING: list[dict[str, Any]] = [
    {"name": "k-anonymity", "k": 2},
    {"name": "l-diversity", "l": 1.01},
    {"name": "l-diversity", "l": 1, "form": "recursive", "c": 0.5},
    {"name": "kl-anonymity", "k": 1, "l": 2},
    {"name": "t-closeness", "t": 0.99},
    {"name": "beta-likeness", "beta": 2},
    {"name": "beta-likeness", "beta": 240, "enhanced": True},
    {"name": "delta-disclosure", "delta": 100},
    {"name": "delta-probability", "delta": "1/2"},
    {"name": "attribute-cover", "l": 2},
    {"name": "rho-breach", "rho1": 0.2, "rho2": 0.9, "p": 0.3, "domain": 6},
]


def made(entry: dict[str, Any]) -> Checkable:
    return guarantee_from_mapping(entry)


@pytest.mark.parametrize("entry", EMPTY, ids=str)
def test_what_asks_for_nothing_says_so(entry: dict[str, Any]) -> None:
    assert made(entry).is_vacuous(CLASSES)  # type: ignore[attr-defined]


@pytest.mark.parametrize("entry", ASKING, ids=str)
def test_what_asks_for_something_says_so(entry: dict[str, Any]) -> None:
    assert not made(entry).is_vacuous(CLASSES)  # type: ignore[attr-defined]


def test_a_promise_of_nothing_is_kept_by_every_table() -> None:
    """Also by the worst one: a class of its own for every row."""
    worst = classes_of_table(
        PEOPLE.append_column("row", [list(range(240))]), ["row"], ["disease"], suppressed_is_star=True
    )
    for entry in EMPTY:
        if entry["name"] in ("k-anonymity", "l-diversity", "kl-anonymity", "t-closeness", "beta-likeness"):
            assert made(entry).check(worst).holds, entry
    assert DisjointCells().check(worst).holds


def test_a_release_that_promises_k_of_one_ends_with_six(tmp_path: Path) -> None:
    run = uc.publish(PEOPLE, SCHEMA, uc.Mondrian(k=1), policy="none")
    out = uc.save(run, tmp_path / "out")
    for target in (out, out / "public"):
        found = run_verify(target)
        assert found.code == 6
        assert "NOT VERIFIED" in found.output
        assert "everything holds" not in found.output
    content = json.loads(run_verify_json(out / "public"))
    assert content["holds"] is None
    assert content["guarantees"][0]["vacuous"] is True


def run_verify_json(public: Path) -> str:
    found = run_verify(public, ["--json"])
    assert found.code == 6
    return found.output


def test_what_only_the_private_run_shows_ends_with_six_without_it() -> None:
    out = save_honestly("drawn", "csv")
    assert run_verify(out / "public").code == 6
    assert run_verify(out).code == 0


def test_what_published_tables_could_refute_is_not_called_verified() -> None:
    """Values that were dealt: a value of more than 1 in l rows would refute the promise, and none is."""
    found = run_verify(save_honestly("dealt", "csv") / "public")
    assert found.code == 0
    assert "published tables could have refuted it and do not" in found.output
    assert not found.output.endswith(" verified")
    assert "everything holds" not in found.output


def test_something_beside_nothing_is_verified(tmp_path: Path) -> None:
    run = uc.publish(PEOPLE, SCHEMA, uc.Mondrian(k=1, l=2), policy="none")
    found = run_verify(uc.save(run, tmp_path / "out") / "public")
    assert found.code == 0
    assert "k-anonymity promises nothing by itself" in found.output


def test_a_comparison_with_the_original_is_no_promise() -> None:
    run = uc.publish(PEOPLE, SCHEMA, uc.Mondrian(k=1), policy="none")
    found = uc.verify(run.release, original=PEOPLE, schema=SCHEMA)
    assert any(finding.holds and not finding.is_promise for finding in found.findings)
    assert found.holds is None
