"""Cells with control characters once aborted the process inside the chart library, and left private folders behind.

Charts are now drawn by a child process from sanitised labels. Whatever becomes of the child, the release is written,
and a note stands in the report in the place of the picture. Escape sequences in cells do not reach a terminal, either.
"""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import undercover as uc
from undercover.characters import visible
from undercover.errors import DataError, UndercoverError
from undercover.model.view import Picture
from undercover.pages import chart_process, jinja
from undercover.pages.chart_process import ChartProcess, DrawingError
from undercover.pages.svg import drawings, shortened

CHARACTERS = (
    "\x00",
    "\x01",
    "\x0b",
    "\x0c",
    "\x1b",
    "\x1f",
    "\x7f",
    "\x85",
    "\x9b",
    "\u2028",
    "\ufffe",
    "\uffff",
    "\U0001fffe",
)
IN_PAGES = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff]")
SPEC = {"data": {"values": [{"x": "a"}]}, "mark": "bar", "encoding": {"x": {"field": "x", "type": "nominal"}}}
PICTURE = Picture("points", SPEC, "One bar.")


def people(place: Path, character: str) -> Path:
    """A table of 60 people in which the character stands in cells of every role that is published."""
    from csv import writer

    with place.open("w", newline="", encoding="utf-8") as file:
        rows = writer(file)
        rows.writerow(["name", "age", "town", "ill"])
        rows.writerows(
            [f"Person-{n}", 20 + n % 30, f"t{character}{n % 4}", f"{'abcdef'[n % 6]}{character}"] for n in range(60)
        )
    return place


def command(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "undercover", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        **options,
    )


def published(place: Path, character: str, *more: object, **options: Any) -> subprocess.CompletedProcess[str]:
    given = people(place / "people.csv", character)
    roles = ["--qi", "age,town", "--sensitive", "ill", "--identifiers", "name", "--policy", "none"]
    made = ["--method", "mondrian", "--set", "k=3", "--out", place / "out"]
    return command("publish", given, *roles, *made, *more, **options)


@pytest.mark.long
@pytest.mark.parametrize("character", ["\x0b", "\x1b"])
def test_the_command_publishes_draws_and_leaves_nothing_behind(character: str, tmp_path: Path) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    done = published(tmp_path, character, env={**os.environ, "TMPDIR": str(temporary)})
    assert done.returncode == 0, done.stderr
    assert sorted(os.listdir(tmp_path)) == ["out", "people.csv", "temporary"]
    assert os.listdir(temporary) == []
    page = (tmp_path / "out" / "private" / "report.html").read_text("utf-8")
    assert page.count("<svg") > 4
    assert 'class="undrawn"' not in page
    assert not IN_PAGES.search(page)
    assert not IN_PAGES.search((tmp_path / "out" / "public" / "datasheet.html").read_text("utf-8"))
    assert visible(f"t{character}1") in page
    checked = command("verify", tmp_path / "out" / "public")
    assert checked.returncode == 0, checked.stdout
    assert character not in done.stdout + done.stderr + checked.stdout + checked.stderr


@pytest.mark.parametrize("character", CHARACTERS)
def test_every_format_holds_it_or_says_that_it_cannot(character: str, tmp_path: Path) -> None:
    given = uc.Schema(quasi_identifiers=["age", "town"], sensitive="ill", identifiers=["name"])
    run = uc.publish(people(tmp_path / "people.csv", character), given, uc.Mondrian(k=3), policy="none")
    refused = []
    for file_format in ("csv", "parquet", "xlsx", "dta", "sav"):
        try:
            out = uc.save(run, tmp_path / file_format, format=file_format)  # type: ignore[arg-type]
        except UndercoverError:
            refused.append(file_format)
            assert not (tmp_path / file_format).exists()
            continue
        assert uc.verify(out).problems == ()
        assert uc.verify(out / "public").holds
        for path in out.rglob("*.json"):
            json.loads(path.read_text("utf-8"))
    assert not {"csv", "parquet"} & set(refused)


@pytest.mark.parametrize("character", CHARACTERS)
def test_a_column_name_with_it_is_refused_as_a_verifier_would(character: str) -> None:
    table = pa.table({f"a{character}ge": [1, 1, 2, 2], "ill": ["a", "b", "a", "b"]})
    schema = uc.Schema(quasi_identifiers=[f"a{character}ge"], sensitive="ill")
    with pytest.raises(DataError, match="letters that are not printed") as refused:
        uc.publish(table, schema, uc.Mondrian(k=2), policy="none")
    assert character not in str(refused.value)


@pytest.mark.parametrize("character", [*CHARACTERS, "\ud800"])
def test_a_label_with_it_is_drawn(character: str) -> None:
    spec = {
        **SPEC,
        "title": f"a{character}b",
        "data": {"values": [{"x": f"a{character}"}, {"x": visible(f"a{character}")}]},
    }
    found = drawings(Picture("points", spec, f"Bars of {character}."))
    assert found.count("<svg") == 2
    assert not IN_PAGES.search(found)
    labels = [value["x"] for value in shortened(spec)["data"]["values"]]
    assert len(set(labels)) == 2, "two values, two bars"


@pytest.mark.parametrize("name", ["a\nb", "\\u", "a\u2028b", '"', "a\\"])
def test_a_column_name_that_breaks_an_expression_is_drawn(name: str) -> None:
    x = {"field": "x", "type": "nominal", "title": f"values of {name}"}
    assert drawings(Picture("points", {**SPEC, "encoding": {"x": x}}, "Bars.")).count("values of ") > 1


@pytest.mark.parametrize("word", ["if", "constructor", "toString", "__proto__", "valueOf"])
def test_a_value_that_is_a_word_of_the_library_is_drawn(word: str) -> None:
    """Found by publishing tables at random: a bar called `if` was read as a part of a program."""
    x = {"field": "x", "type": "nominal", "sort": [word, "b"]}
    spec = {**SPEC, "data": {"values": [{"x": word}, {"x": "b"}]}, "encoding": {"x": x}}
    assert f">{word}" in drawings(Picture("points", spec, "Bars."))


def test_terminal_and_json_show_signs_in_place_of_escape_sequences(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("\x1b[31mage,ill\x9b\n" + "".join(f"{n},a\x1b]0;x\x07\n" for n in range(9)))
    for more in ([], ["--json"]):
        done = command("inspect", tmp_path / "people.csv", *more)
        assert done.returncode == 0, done.stderr
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", done.stdout + done.stderr)
        assert ("\u241b[31mage" if not more else "\\u001b[31mage") in done.stdout
    refused = command("inspect", tmp_path / "\x1b[31mnowhere.csv")
    assert refused.returncode == 2
    assert "\x1b" not in refused.stderr


CHILDREN = {
    "it aborts": "import os; os.abort()",
    "it leaves without a word": "raise SystemExit(0)",
    "it answers nonsense": "import sys; sys.stdout.buffer.write(bytes([0]) + bytes([255] * 3)); sys.stdout.flush()",
    "its library is not there": None,
}


@pytest.fixture
def child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Have charts drawn by a child that does what a script says, for so many seconds at most."""
    used: list[ChartProcess] = []

    def begun(script: str, seconds: float = 20.0) -> ChartProcess:
        (tmp_path / "child.py").write_text(script)
        used.append(ChartProcess(seconds=seconds, child=tmp_path / "child.py"))
        monkeypatch.setattr(chart_process, "_process", used[-1])
        return used[-1]

    yield begun
    for one in used:
        one.stop()


NO_LIBRARY = (
    Path(chart_process._CHILD).read_text("utf-8").replace("from vl_convert import", "from no_such_library import")
)


@pytest.mark.usefixtures("drawn")
@pytest.mark.parametrize("why", CHILDREN)
def test_a_chart_that_fails_leaves_a_note(why: str, child: Any) -> None:
    child(CHILDREN[why] or NO_LIBRARY)
    spec = {**SPEC, "title": why}  # none that was drawn before
    shown = jinja.drawn(Picture("points", spec, "Bars of 1 < 2."))
    assert shown.startswith('<p class="undrawn">This chart could not be drawn: ')
    assert "Bars of 1 &lt; 2." in shown


def test_a_child_that_does_not_answer_is_given_up_and_replaced(child: Any) -> None:
    slow = child("import time; time.sleep(600)", seconds=0.5)
    began = time.monotonic()
    for _ in range(20):
        with pytest.raises(DrawingError, match=r"within 0.5 seconds|charts before it"):
            slow.draw(SPEC)
    assert time.monotonic() - began < 10, "after some failures nothing is waited for"


def test_a_child_that_was_killed_is_replaced() -> None:
    charts = ChartProcess()
    try:
        first = charts.draw(SPEC)
        assert charts._child is not None
        os.kill(charts._child.pid, signal.SIGKILL)
        assert charts.draw(SPEC) == first
    finally:
        charts.stop()


@pytest.mark.usefixtures("drawn")
def test_a_release_is_saved_whatever_becomes_of_its_charts(child: Any, tmp_path: Path, people: Path) -> None:
    child("import os; os.abort()")
    schema = uc.Schema(quasi_identifiers=["age", "sex", "zip"], sensitive="disease", identifiers=["name"])
    out = uc.save(uc.publish(people, schema, uc.Mondrian(k=4), policy="none"), tmp_path / "out")
    page = (out / "private" / "report.html").read_text("utf-8")
    assert page.count('class="undrawn"') > 3
    assert uc.verify(out).holds


LIMITED = textwrap.dedent(
    """
    import resource, sys
    import undercover as uc
    import undercover.pages.render, altair
    from undercover.pages import chart_process

    run = uc.publish(sys.argv[1], uc.Schema(quasi_identifiers=["age", "sex", "zip"], sensitive="disease",
        identifiers=["name"]), uc.Mondrian(k=4), policy="none")
    uc.verify(run)
    what = getattr(resource, sys.argv[3])
    started = chart_process._process._running

    def starved():
        resource.setrlimit(what, (int(sys.argv[4]), resource.getrlimit(what)[1]))
        try:
            return started()
        finally:
            resource.setrlimit(what, (resource.getrlimit(what)[1],) * 2)

    chart_process._process._running = starved
    print(uc.verify(uc.save(run, sys.argv[2])).holds)
    """
)


@pytest.mark.long
@pytest.mark.parametrize(("limit", "most"), [("RLIMIT_AS", 200 << 20), ("RLIMIT_NOFILE", 3), ("RLIMIT_NPROC", 0)])
def test_low_limits_cost_pictures_and_nothing_else(limit: str, most: int, people: Path, tmp_path: Path) -> None:
    """`ulimit -v` and `ulimit -n`, set where the child is started: the rest of the program needs its own share."""
    if limit == "RLIMIT_NPROC" and os.geteuid() == 0:
        limit, most = "RLIMIT_AS", 64 << 20  # root has as many processes as it likes
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, people, tmp_path / "out", limit, str(most)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr
    assert 'class="undrawn"' in (tmp_path / "out" / "private" / "report.html").read_text("utf-8")


PARENT = textwrap.dedent(
    """
    import os, sys, time
    secret = os.open(sys.argv[1], os.O_RDONLY)
    os.set_inheritable(secret, True)
    from undercover.pages import chart_process
    chart_process.draw_chart({spec})
    print(chart_process._process._child.pid, flush=True)
    time.sleep(600)
    """
)


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_the_child_holds_no_private_file_writes_none_and_ends_with_its_parent(tmp_path: Path) -> None:
    (tmp_path / "private.csv").write_text("Ada,34\n")
    code = PARENT.replace("{spec}", repr(SPEC))
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        parent = subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path / "private.csv")], stdout=subprocess.PIPE, text=True
        )
    finally:
        signal.signal(signal.SIGHUP, before)
    with parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        place = Path("/proc", str(child))
        limits = (place / "limits").read_text()
        assert re.search(r"Max file size\s+0\s+0", limits)
        assert re.search(r"Max core file size\s+0\s+0", limits)
        ignored = int(re.search(r"SigIgn:\s+(\w+)", (place / "status").read_text())[1], 16)  # type: ignore[index]
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGCHLD, signal.SIGPIPE):
            assert not ignored >> (number - 1) & 1, number
        opened = [os.readlink(one) for one in (place / "fd").iterdir()] if os.geteuid() == 0 else []
        assert not [name for name in opened if "private.csv" in name]
        parent.kill()
        parent.wait()
    ended = time.monotonic() + 10
    while place.exists() and "Z" not in (place / "stat").read_text().split(")")[1][:3]:
        assert time.monotonic() < ended, "the child outlives its parent"
        time.sleep(0.05)


def test_limits_of_the_child_are_not_those_of_its_parent() -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    chart_process.draw_chart(SPEC)
    assert resource.getrlimit(resource.RLIMIT_FSIZE) == before
