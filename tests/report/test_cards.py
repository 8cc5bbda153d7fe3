from __future__ import annotations

import subprocess
import sys

from undercover.guarantees import Finding, Verification, verify
from undercover.report import register
from undercover.report.cards import release_card, run_card, schema_card, verification_card


def test_register_attaches_the_cards(make_run):
    register()
    run = make_run()
    for thing in (run, run.release, run.schema, verify(run.release)):
        assert thing._repr_html_().startswith("<div")


def test_run_card_warns_and_release_card_tells_nothing_private(make_run, secrets, secret_seed):
    run = make_run(seed=secret_seed)
    assert "reproducible: not for publication" in run_card(run)
    assert "(private)" in run_card(run)
    card = release_card(run.release)
    assert [what for what, secret in secrets.items() if secret in card] == []
    assert "10-anonymity" in card


def test_cards_escape(make_run):
    run = make_run(rename={"age": "<script>"})
    assert "<script>" not in schema_card(run.schema) + run_card(run)
    assert "&lt;script&gt;" in schema_card(run.schema)


def test_verification_card_tells_failing_open_and_problems():
    findings = (
        Finding("k-anonymity", {"k": 5}, 5, 3, False),
        Finding("delta-probability", {"delta": 0.2}, 0.2, needs="private"),
        Finding("rows-covered", {}, holds=True),
    )
    card = verification_card(Verification(findings, problems=("`table.csv` was changed.",)))
    assert "Verification: fails" in card
    assert "fails: 3, at least 5 required" in card
    assert "open, it needs: private" in card
    assert "<code>table.csv</code> was changed." in card


def test_importing_the_room_loads_no_heavy_part():
    heavy = "altair, vl_convert, jinja2, pandas, polars, numba, duckdb"
    code = f"import sys, undercover.report; print([m for m in '{heavy}'.split(', ') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
