"""No value of a manifest makes `undercover verify` crash: it fails (4), cannot be read (2) or still holds.

Two manifests once did: `orders` of a promise that was no mapping, and a file name that was longer than any file's. Here
every value of a small release of each form is replaced by values of other types and by extreme ones.
"""

import json
import shutil
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tampering import METHODS, PEOPLE, SCHEMA, run_verify

import undercover as uc
from undercover.errors import UndercoverError
from undercover.testing.forged import Folder

LONG = "Ada " * 2000
MUTATIONS: list[Any] = [None, True, -1, 2**70, "", LONG, [], {"a": [{}]}]
FORMS = ["mondrian", "anatomy", "cross-bucket", "dealt", "drawn", "perturbed"]
REMOVED = object()


def paths_of(value: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The place of every value; of a list those of the first and the last item."""
    yield before
    if isinstance(value, dict):
        for key, item in value.items():
            yield from paths_of(item, (*before, key))
    elif isinstance(value, list):
        for number in sorted({0, len(value) - 1} & set(range(len(value)))):
            yield from paths_of(value[number], (*before, number))


def mutated(content: Any, path: tuple[Any, ...], value: Any) -> Any:
    """A copy with another value at a place, or with none."""
    found = json.loads(json.dumps(content))
    if not path:
        return value
    holder = found
    for step in path[:-1]:
        holder = holder[step]
    if value is REMOVED:
        del holder[path[-1]]
    else:
        holder[path[-1]] = value
    return found


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A release of 40 people of every form."""
    made = {}
    for form in FORMS:
        run = uc.publish(PEOPLE.slice(0, 40), SCHEMA, METHODS[form], seed=1, policy="none")
        made[form] = uc.save(run, tmp_path_factory.mktemp(form) / "out") / "public"
    return made


def crash_of(public: Path) -> str:
    """What goes wrong beyond what the command line has a sentence for; nothing where it has one."""
    try:
        found = uc.verify(public)
        found.to_dict()
        found.view()
    except UndercoverError:
        return ""
    except Exception as error:
        return "".join(traceback.format_exception(error)[-3:])
    return ""


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("pages", [True, False], ids=["with pages", "without"])
def test_no_value_of_a_manifest_crashes_verify(form: str, pages: bool, small: dict[str, Path], tmp_path: Path) -> None:
    public = Path(shutil.copytree(small[form], tmp_path / "public"))
    folder = Folder(public)
    if not pages:
        folder.drop_datasheet()
        folder.seal()
    crashes = []
    for path in paths_of(folder.content):
        for value in [*MUTATIONS, REMOVED] if path else MUTATIONS:
            (public / "release.json").write_text(json.dumps(mutated(folder.content, path, value)), "utf-8")
            crash = crash_of(public)
            if crash:
                crashes.append((path, str(value)[:20], crash))
    assert crashes == []


def test_a_crash_is_seen(small: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uc, "verify", lambda public: {}["k"])
    assert "KeyError" in crash_of(small["mondrian"])


def test_a_promise_whose_orders_are_no_mapping_fails(small: dict[str, Path], tmp_path: Path) -> None:
    public = Path(shutil.copytree(small["perturbed"], tmp_path / "public"))
    folder = Folder(public)
    claim = next(claim for claim in folder.claims if claim["name"] == "disjoint-cells")
    claim["orders"] = [["age", "20"]]
    folder.seal()
    assert run_verify(public).code == 4


def test_a_file_name_that_is_too_long_is_refused(small: dict[str, Path], tmp_path: Path) -> None:
    public = Path(shutil.copytree(small["mondrian"], tmp_path / "public"))
    folder = Folder(public)
    folder.content["files"][f"{LONG}.csv"] = ""
    (public / "release.json").write_text(json.dumps(folder.content), "utf-8")
    found = run_verify(public)
    assert found.code == 2
    assert "what cannot be a name" in found.output
    assert LONG[:100] not in found.output
