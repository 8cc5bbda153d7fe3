"""``undercover recommend``: what it prints, writes and leaves with."""

import json

import pytest

import undercover as uc
from undercover.cli import publish as publish_command
from undercover.io.spec.load import load_spec

NARROW = ("--methods", "mondrian,cross-bucket")


@pytest.fixture
def told(undercover, people, roles):
    return lambda *more: undercover("recommend", people, *roles, *NARROW, *more)


def test_it_says_what_and_why(told):
    done = told("--for", "queries", "--time", "1")
    assert done.code == 0, done.err
    assert done.out.startswith("Recommended: ")
    assert "This was chosen after looking at sensitive values. That alone can reveal something." in done.out
    assert "mean relative error of random COUNT queries" in " ".join(done.out.split())
    assert "fresh draw" in done.out


def test_json_has_the_verdict_and_what_was_tried(told, tmp_path):
    workload = tmp_path / "w.toml"
    workload.write_text('[[count]]\nwhere = {age = {between = [30, 40]}, disease = "flu"}\n')
    done = told("--workload", workload, "--json")
    content = json.loads(done.out)
    assert (content["verdict"], [reason["kind"] for reason in content["reasons"]]) == ("Decide", ["choice"])
    assert content["purpose"]["name"] == "queries"
    assert {"reasons", "why", "next", "cannot", "releases", "tried", "left_out", "confirmed", "policy"} < set(content)
    assert all(entry["verdict"] != "Do not publish" for entry in content["releases"])


def test_what_is_recommended_is_published_and_written_down(undercover, told, people, tmp_path):
    spec, out = tmp_path / "s.toml", tmp_path / "out"
    done = told("--publish", out, "--write-spec", spec, "--json")
    assert done.code == 0, done.err
    content = json.loads(done.out)
    assert uc.load(out).release.method == content["method"]["name"] == load_spec(spec).method_name
    assert (out / "public" / "release.json").exists()
    again = undercover("publish", people, "--spec", spec, "--out", tmp_path / "again")
    assert again.code == 0, again.err
    refused = told("--write-spec", spec)
    assert refused.code == 2
    assert "exists" in refused.err


def test_a_draw_that_turns_out_withheld_is_withheld(told, tmp_path, monkeypatch):
    """Cannot be of a confirmed one, and is handled: what is in the folder decides."""
    monkeypatch.setattr(publish_command, "is_withheld", lambda out: True)
    done = told("--publish", tmp_path / "out")
    assert done.code == 5


def test_what_nothing_satisfies_leaves_with_3_and_the_nearest(told, tmp_path):
    policy = tmp_path / "p.toml"
    policy.write_text('belief = "1/20"\ngain = 0\n')
    done = told("--policy", policy, "--publish", tmp_path / "out")
    assert done.code == 3
    assert "Nearest: " in done.err
    assert "p.toml" not in done.err
    assert not (tmp_path / "out").exists()


def test_bad_input_is_told(undercover, told, people):
    assert undercover("recommend", people).code == 2
    assert "Purpose `fun` is not known" in told("--for", "fun").err
    assert told("--policy", "none").code == 2


def test_inspect_writes_the_method_that_is_recommended(undercover, people, tmp_path):
    spec = tmp_path / "s.toml"
    assert undercover("inspect", people, "--write-spec", spec).code == 0
    text = spec.read_text()
    assert "under `standard` on all 240 rows" in " ".join(text.replace("#", "").split())
    assert "unconfirmed" not in text
    done = undercover("publish", people, "--spec", spec, "--out", tmp_path / "out", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["verdict"] != "Do not publish"


def test_inspect_says_where_nothing_is_recommended(undercover, tmp_path):
    table, spec = tmp_path / "t.csv", tmp_path / "s.toml"
    table.write_text("age,disease\n" + "".join(f"{20 + row},flu\n" for row in range(4)))
    assert undercover("inspect", table, "--write-spec", spec).code == 0
    assert "# Nothing is recommended: " in spec.read_text()
    assert load_spec(spec).method_parameters["k"] == 4
