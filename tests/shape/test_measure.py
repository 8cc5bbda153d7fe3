"""The figures of `make shape`: every limit is measured, and the tracer sees what it is said to see."""

import importlib
import sys
from pathlib import Path

import pytest
from journeys import counted, traced
from limits import LIMITS, Limit
from planting import planted

from measure import measured, one_importer, row

JOURNEYS = (
    "verifications",
    "columns",
    "questions",
    "journey_files",
    "journey_functions",
    "journey_calls",
    "inside_files",
    "originals",
    "boxes",
    "modules",
)
TRAVELLED = {
    "__init__.py": "",
    "guarantees/__init__.py": "",
    "guarantees/verify.py": "def verify():\n    return [i for i in range(3)]\n\n\ndef verify_twice():\n    verify()\n",
    "verb.py": (
        "import threading\nfrom undercover_planted.guarantees.verify import verify\n\n\n"
        "class Method:\n    def anonymize(self):\n        verify()\n\n\n"
        "def publish():\n    verify()\n    Method().anonymize()\n"
        "    other = threading.Thread(target=verify)\n    other.start()\n    other.join()\n"
    ),
}


def test_every_limit_is_measured() -> None:
    assert set(measured(dict.fromkeys(JOURNEYS, 0))) == set(LIMITS)


def test_a_limit_says_whether_it_is_met() -> None:
    most, exactly = Limit("rooms", "11", 2), Limit("reads", "2", 1, "exactly")
    assert [most.met(1), most.met(2), most.met(3)] == [True, True, False]
    assert [exactly.met(0), exactly.met(1), exactly.met(2)] == [False, True, False]
    assert row(most, 3).split() == ["rooms", "11", "3", "<=", "2", "no"]
    assert row(exactly, 1).split() == ["reads", "2", "1", "1", "yes"]
    assert row(exactly, None).split() == ["reads", "2", "-", "1", "-"]


def test_calls_are_traced_in_every_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = planted(tmp_path / "undercover_planted", TRAVELLED)
    monkeypatch.syspath_prepend(str(tmp_path))
    verb = importlib.import_module("undercover_planted.verb")
    before = sys.getprofile()
    with traced(root) as tracer:
        verb.publish()
    assert sys.getprofile() is before
    assert tracer.count("guarantees/verify.py", "verify") == 3
    assert tracer.callers("guarantees/verify.py", "verify") == {"verb.py: Method.anonymize": 1, "verb.py: publish": 1}
    assert set(tracer.calls) == {
        ("verb.py", "publish"),
        ("verb.py", "Method.anonymize"),
        ("guarantees/verify.py", "verify"),
    }
    assert tracer.inside == {"guarantees/verify.py"}


def test_a_module_that_is_loaded_by_name_has_more_than_its_one_importer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("relay", "plugin", "public", "cli.joint_risk", "web.home", "said", "own")
    files = {f"{name.replace('.', '/')}.py": "" for name in names}
    files["own.py"] = 'NAME = "undercover_named.own"\n'
    files["said.py"] = '"""See undercover_named.said."""\n'
    files |= dict.fromkeys(("__init__.py", "cli/__init__.py"), "")
    files["web/__init__.py"] = 'PAGES = ("home",)\n\n\ndef found(name):\n    return f"{__name__}.{name}"\n'
    files["verb.py"] = '"""undercover_named.said"""\n' + "".join(f"import undercover_named.{name}\n" for name in names)
    files["tables.py"] = (
        'PLUGINS = {"one": "undercover_named.plugin:One"}\nHOMES = {"undercover_named.public": "One Two"}\n'
        'COMMANDS = {"joint-risk": "What it does."}\n\n\ndef found(name):\n    return f"undercover_named.cli.{name}"\n'
    )
    root = planted(tmp_path / "undercover_named", files)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert one_importer(root) == [
        f"undercover_named.{name} by undercover_named.verb" for name in ("own", "relay", "said")
    ]


def test_what_is_made_is_counted() -> None:
    class Boxes:
        def __init__(self, n: int) -> None:
            self.n = n

    with counted(Boxes) as made:
        Boxes(3)
        Boxes(n=4)
    Boxes(5)
    assert [boxes.n for boxes in made] == [3, 4]
