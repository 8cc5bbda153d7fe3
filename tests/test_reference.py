"""The reference names every public object, command, key and exit code, and nothing that does not exist."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import typer.main
from docs.making.reference import ITEM, command, found
from docutils import nodes
from docutils.core import publish_doctree
from docutils.parsers.rst import roles
from docutils.parsers.rst.roles import GenericRole
from pydantic import BaseModel
from sphinx.ext.napoleon import Config, NumpyDocstring
from typer.testing import CliRunner

import undercover as uc
from undercover import errors, plugins, testing
from undercover.cli.main import app
from undercover.io.release import manifest
from undercover.model import protocols

ROOT = Path(__file__).parent.parent / "docs" / "reference"
OBJECTS = [path for page in sorted((ROOT / "python").glob("*.md")) for path in ITEM.findall(page.read_text("utf-8"))]
COMMANDS = {
    words: page.stem for page in (ROOT / "commands").glob("*.md") for words in ITEM.findall(page.read_text("utf-8"))
}
ENTRY_POINTS = ("studies.experiments.", "forms.reading.", "model.about.")
"""Public names that are neither in ``undercover``, nor protocols, checks or errors."""


def own_classes(module: Any, kind: type = object) -> set[str]:
    return {
        f"{module.__name__}.{name}"
        for name, here in vars(module).items()
        if inspect.isclass(here) and issubclass(here, kind) and here.__module__ == module.__name__
    }


def test_every_public_name_stands_on_one_page() -> None:
    top = {*uc.__all__, "PerturbedClassifier", "fit_release"} - {"__version__", "datasets"}
    wanted = {f"undercover.{name}" for name in top} | {f"undercover.datasets.{name}" for name in uc.datasets.__all__}
    wanted |= {f"undercover.testing.{name}" for name in testing.__all__}
    wanted |= own_classes(protocols) | own_classes(errors, Exception)
    named = [path for path in OBJECTS if not path.removeprefix("undercover.").startswith(ENTRY_POINTS)]
    assert sorted(named) == sorted(wanted)


def undocumented(here: Any) -> list[str]:
    """What is missing from the docstrings of an object and of its public members."""
    text = here.__doc__ or ""
    missing = [] if ">>> " in text or (isinstance(here, type) and issubclass(here, Exception)) else ["an example"]
    for name, member in vars(here).items() if inspect.isclass(here) else ():
        plain = getattr(member, "fget", None) or getattr(member, "__func__", member)
        if not name.startswith("_") and inspect.isfunction(plain) and not (plain.__doc__ or name != plain.__name__):
            missing.append(f"what `{name}` does")
    return missing if text else ["a docstring"]


@pytest.mark.parametrize("path", OBJECTS)
def test_every_public_name_is_explained_with_an_example(path: str) -> None:
    assert undocumented(found(path)) == []


def test_what_is_not_explained_is_found_out() -> None:
    class Silent:
        """Says what it is."""

        def act(self) -> None: ...

    assert undocumented(Silent) == ["an example", "what `act` does"]
    assert undocumented(lambda: None) == ["a docstring"]


def complaints(*texts: str) -> list[str]:
    """What a parser of docstrings has to complain of: markup that is opened and not closed, say."""
    for role in ("class", "func", "mod", "data", "attr", "meth"):
        roles.register_local_role(role, GenericRole(role, nodes.literal))
    settings = Config(napoleon_use_ivar=True)
    page = "\n\n.. next\n\n".join(str(NumpyDocstring(text, settings)) for text in texts)
    tree = publish_doctree(page, settings_overrides={"report_level": 5})
    return [message.astext() for message in tree.findall(nodes.system_message) if message["level"] > 1]


def docstrings(path: str) -> Iterator[str]:
    """Of an object and of its public members."""
    here = found(path)
    members = vars(here).items() if inspect.isclass(here) else ()
    plain = (getattr(member, "fget", None) or member for name, member in members if not name.startswith("_"))
    yield from (inspect.getdoc(one) or "" for one in (here, *filter(inspect.isfunction, plain)))


def test_docstrings_can_be_typeset() -> None:
    assert complaints(*(text for path in OBJECTS for text in docstrings(path))) == []


def test_a_docstring_that_cannot_be_typeset_is_found_out() -> None:
    assert complaints("|log(p/q)| stays *below.") != []
    assert complaints("``|log(p/q)|`` stays *below* :class:`it`.") == []


def leaves(group: Any, words: str = "undercover") -> Iterator[tuple[str, Any]]:
    """Every command that can be run, by its words."""
    for name, inner in group.commands.items():
        if hasattr(inner, "commands"):
            yield from leaves(inner, f"{words} {name}")
        else:
            yield f"{words} {name}", getattr(inner, "loaded", inner)


def test_every_command_stands_on_a_page_of_its_name() -> None:
    wanted = {words: words.split()[1] for words, _ in leaves(typer.main.get_command(app))}
    assert wanted == COMMANDS


def section(words: str) -> str:
    """What a page says of a command: all of it, or the part below the heading of a command in a group."""
    text = (ROOT / "commands" / f"{COMMANDS[words]}.md").read_text("utf-8")
    name = words.split()[2:]
    return re.split(r"^## ", text.partition(f"## {name[0]}\n")[2], flags=re.MULTILINE)[0] if name else text


def listed(text: str, heading: str) -> dict[str, str]:
    """Code in the first column of the tables below a heading, with what is said of it."""
    rows = re.findall(rf"^\| {heading} \|.*\n\|[-|]+\n((?:\|.*\n)*)", text, re.MULTILINE)
    return dict(re.findall(r"^\| `([^`]+)` \| (.*?) \|", "".join(rows), re.MULTILINE))


@pytest.mark.parametrize("words", COMMANDS)
def test_keys_are_listed_where_json_is_printed(words: str) -> None:
    assert bool(listed(section(words), "key")) == any(one.name == "json" for one in command(words).params)


ROLES = ["--qi", "age,sex", "--sensitive", "ill", "--identifiers", "name"]
SMALL = [
    ["inspect", "people.csv"],
    ["publish", "people.csv", *ROLES, "--method", "mondrian", "--set", "k=2", "--policy", "open", "--out", "held"],
    ["accept", "held", "--because", "a test"],
    ["publish", "people.csv", *ROLES, "--method", "anatomy", "--set", "l=3", "--policy", "none", "--out", "made"],
    ["verify", "made"],
    ["attack", "made"],
    ["measure", "made", "--original", "people.csv"],
    ["apply", "made", "--to", "people.csv", "--policy", "none", "--out", "again"],
    ["joint-risk", "ages.csv", "sexes.csv", "--sensitive", "ill", "--l", "2"],
    ["guarantee", "--k", "6", "--p", "0.3", "--domain", "50"],
    ["ledger", "add", "ledger.npz", "made"],
    ["ledger", "show", "ledger.npz"],
    ["ledger", "check", "ledger.npz", "people.csv"],
    ["hierarchy", "intervals", "--from", "20", "--to", "49", "--widths", "10", "--out", "tree.csv"],
    ["hierarchy", "show", "tree.csv"],
    ["hierarchy", "check", "tree.csv"],
]
LARGE = [
    ["recommend", "people.csv", *ROLES, "--time", "1"],
    ["compare", "people.csv", *ROLES, "--methods", "anatomy", "--queries", "2", "--out", "compared"],
    ["experiment", "cross-bucket", "--quick", "--out", "measured"],
]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table of sixty people, and two halves of it."""
    people = [(f"P{i}", 20 + i % 30, "MF"[i % 2], "abcdef"[(i * 5 + i // 6) % 6]) for i in range(60)]
    folder = tmp_path_factory.mktemp("reference")
    tables: dict[str, tuple[str, Callable[..., str]]] = {
        "people": ("name,age,sex,ill", lambda *one: ",".join(map(str, one))),
        "ages": ("age,ill", lambda name, age, sex, ill: f"{age // 15},{ill}"),
        "sexes": ("sex,ill", lambda name, age, sex, ill: f"{sex},{ill}"),
    }
    for name, (header, row) in tables.items():
        (folder / f"{name}.csv").write_text("\n".join([header, *(row(*one) for one in people)]) + "\n")
    return folder


def agree(words: list[str], place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    done = CliRunner().invoke(app, [*words, "--json"], catch_exceptions=False)
    assert done.exit_code in (0, 5), done.output
    name = next(known for known in COMMANDS if f"undercover {' '.join(words)} ".startswith(f"{known} "))
    keys = listed(section(name), "key")
    always = {key for key, said in keys.items() if not said.startswith("*only sometimes*")}
    assert always <= json.loads(done.stdout).keys() <= keys.keys(), words


def test_json_has_the_keys_of_its_page(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for words in SMALL:
        agree(words, place, monkeypatch)


@pytest.mark.soak
def test_json_of_long_commands_has_the_keys_of_its_page(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for words in LARGE:
        agree(words, place, monkeypatch)


def keys_of(model: type[BaseModel], before: str = "") -> Iterator[str]:
    """The keys of a manifest as its reader knows them, with dots and brackets."""
    for name, field in model.model_fields.items():
        yield before + name
        inner = re.search(r"manifest\.(_\w+)", str(field.annotation))
        if inner:
            yield from keys_of(
                getattr(manifest, inner[1]), f"{before}{name}{'[]' if 'list' in str(field.annotation) else ''}."
            )


def test_every_key_of_the_manifest_is_listed() -> None:
    text = (ROOT / "release-json.md").read_text("utf-8")
    assert set(listed(text, "key")) == set(keys_of(manifest._Manifest))
    forms = {name: plugins.load("forms", name).form for name in plugins.BUILT_IN["forms"]}
    said = listed(text, "`form.name`")
    assert {name: set(re.findall(r"`(\w+)`(?=[:,])", said[name])) for name in said} == {
        name: {field.name for field in fields(form)} for name, form in forms.items()
    }


def test_every_exit_code_is_listed() -> None:
    text = (ROOT / "exit-codes.md").read_text("utf-8")
    codes = {int(code): said for code, said in re.findall(r"^\| (\d+) \| (.*) \|$", text, re.MULTILINE)}
    kinds = [
        here for here in vars(errors).values() if inspect.isclass(here) and issubclass(here, errors.UndercoverError)
    ]
    for kind in kinds:
        nearest = next(
            name
            for name in ("UnreachableError", "VerificationError", "InputError", "UndercoverError")
            if name in {k.__name__ for k in kind.__mro__}
        )
        assert nearest == "UndercoverError" or f"`{nearest}`" in codes[kind.exit_code], kind
    assert set(codes) >= {0, 1, 2, 3, 4, 5, 130, 141}
