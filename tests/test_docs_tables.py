"""Tables in the guide that list what the program has: verbs, attackers, commands."""

import inspect
import re
import tomllib
from pathlib import Path

import pytest
import typer.main

import undercover as uc
from undercover import plugins
from undercover.cli.main import app
from undercover.verbs.report import report

GUIDE = Path(__file__).parent.parent / "docs" / "guide"
VERBS = [name for name in uc.__all__ if name[0].islower() and name != "datasets"]


def first_cells(page: str, heading: str) -> list[str]:
    """What the first column of a table has in code, by the heading of that column."""
    lines = (GUIDE / page).read_text("utf-8").splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith(f"| {heading} |"))
    end = next(number for number in range(start, len(lines)) if not lines[number].startswith("|"))
    return [found[1] for line in lines[start + 2 : end] if (found := re.match(r"\| `([^`]+)`", line))]


def described() -> dict[str, list[str]]:
    """The verbs of the table with the names of their parameters."""
    calls = (call.partition("(") for call in first_cells("python.md", "verb"))
    return {name: re.findall(r"(\w+)(?:=[^,]*)?(?:, |$)", rest.removesuffix(")")) for name, _, rest in calls}


def test_the_table_of_verbs_has_all_of_them() -> None:
    assert sorted(described()) == sorted(VERBS)


@pytest.mark.parametrize("name", VERBS)
def test_a_verb_takes_what_the_table_says(name: str) -> None:
    verb = report if name == "report" else getattr(uc, name)
    taken = inspect.signature(verb).parameters.values()
    assert described()[name] == [each.name for each in taken if each.kind is not inspect.Parameter.VAR_KEYWORD]


def test_the_table_of_attackers_has_what_attack_takes() -> None:
    names = {plugins.load("attacks", name).__name__ for name in plugins.BUILT_IN["attacks"]}
    assert {call.removesuffix("()") for call in first_cells("python.md", "attacker")} == names


def test_the_table_of_commands_has_all_of_them() -> None:
    commands = getattr(typer.main.get_command(app), "commands", {})
    assert {call.split()[0] for call in first_cells("files.md", "command")} == set(commands)


def rooms_of(line: str) -> list[str]:
    """The rooms on a line of the picture: on both sides of the wall, or before what is said of them."""
    names = line.replace("|", " ") if "   |   " in line else re.split(r" {8,}", line.strip())[0]
    return [] if "--" in names else names.split()


def test_the_picture_of_the_rooms_is_the_import_contract() -> None:
    contracts = tomllib.loads((GUIDE.parent.parent / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    layers = next(contract["layers"] for contract in contracts["contracts"] if contract["type"] == "layers")
    rooms = [room.strip().removeprefix("undercover.") for layer in layers for room in layer.split("|")]
    picture = (GUIDE.parent / "architecture.md").read_text("utf-8").split("## Rooms")[1].split("```")[1]
    drawn = [room for line in picture.splitlines()[1:] for room in rooms_of(line)]
    assert drawn == rooms
