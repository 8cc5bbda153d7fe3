"""Nobody compares a method, form, guarantee or attack by its name: objects are asked what they are.

Whoever adds a plug-in cannot add its name to an `if` of ours. A promise that is checked only where it has a certain
name is not checked of anybody else's, and that has cost a leak: (k, l)-anonymity was never asked whether it holds
across releases. Names stand in ``plugins.py``, where plug-ins are registered, and nowhere in a comparison.

A value of a parameter may be spelled like a method (``recoding = "mondrian"``): what is compared is then declared, by
that name, as a ``Literal`` with the value.
"""

import ast
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path

import pytest
from planting import planted
from sources import PACKAGE

from undercover.plugins import BUILT_IN

KINDS = ("methods", "forms", "guarantees", "attacks", "measures")
NAMES = frozenset(name for kind in KINDS for name in BUILT_IN[kind])
WORDS = frozenset(BUILT_IN["forms"])  # also ordinary words, which may be keys of a table
NEVER_PARAMETERS = {"name", "method", "form", "guarantee", "attack", "claim", "finding", "entry"}
REGISTRATION = {"plugins.py"}


def compared_by_name(root: Path, names: frozenset[str] = NAMES) -> list[str]:
    """Where a name is compared, looked up or matched, as ``file:line name``."""
    trees = {path.relative_to(root).as_posix(): ast.parse(path.read_text("utf-8")) for path in root.rglob("*.py")}
    known = names | frozenset(name for tree in trees.values() for name in _attacks_named(tree))
    constants = {file: _constants(tree) for file, tree in trees.items()}
    choices = _choices(trees.values())
    found = []
    for file, tree in sorted(trees.items()):
        if file in REGISTRATION:
            continue
        seen = {**_imported(tree, constants), **constants[file]}
        for line, subject, words in _compared(tree, seen):
            allowed = set() if subject in NEVER_PARAMETERS else choices.get(subject, set())
            found += [f"{file}:{line} {name}" for name in sorted((words & known) - allowed)]
    return found


def _attacks_named(tree: ast.AST) -> Iterator[str]:
    """What results of attacks are called: ``{"attack": "overlap", …}``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and key.value == "attack" and isinstance(value, ast.Constant):
                    yield str(value.value)


def _constants(tree: ast.Module) -> dict[str, ast.expr]:
    """Names, also inside functions, that stand for a text or a list, set or table of texts."""
    found: dict[str, ast.expr] = {}
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    for node in [*tree.body, *(part for function in functions for part in ast.walk(function))]:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id] = node.value
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            found[node.target.id] = node.value
    plain = (ast.Constant, ast.Tuple, ast.List, ast.Set, ast.Dict, ast.Call)
    return {name: value for name, value in found.items() if isinstance(value, plain)}


def _imported(tree: ast.Module, constants: Mapping[str, Mapping[str, ast.expr]]) -> dict[str, ast.expr]:
    """Such names that are imported from another module of ours."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            file = node.module.removeprefix("undercover.").replace(".", "/")
            own = constants.get(f"{file}.py") or constants.get(f"{file}/__init__.py") or {}
            found |= {alias.asname or alias.name: own[alias.name] for alias in node.names if alias.name in own}
    return found


def _choices(trees: object) -> dict[str, set[str]]:
    """What parameters may be, by their name, where that is declared as a ``Literal``."""
    aliases: dict[str, set[str]] = {}
    declared: list[tuple[str, ast.expr]] = []
    for tree in trees:  # type: ignore[attr-defined]
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and _literals(node.value):
                aliases.setdefault(node.targets[0].id, set()).update(_literals(node.value))
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                declared.append((node.target.id, node.annotation))
            elif isinstance(node, ast.arg) and node.annotation is not None:
                declared.append((node.arg, node.annotation))
    found: dict[str, set[str]] = {}
    for name, annotation in declared:
        said = _literals(annotation)
        for part in ast.walk(annotation):
            said |= aliases.get(part.id, set()) if isinstance(part, ast.Name) else set()
        if said:
            found.setdefault(name, set()).update(said)
    return found


def _literals(node: ast.expr) -> set[str]:
    return {
        text
        for part in ast.walk(node)
        if isinstance(part, ast.Subscript) and isinstance(part.value, ast.Name) and part.value.id == "Literal"
        for text in _texts(part.slice)
    }


def _texts(node: ast.AST) -> set[str]:
    """The texts of an expression: all of a list or set, the keys of a table."""
    if isinstance(node, ast.Dict):
        return {text for key in node.keys if key is not None for text in _texts(key)}
    return {part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str)}


def _said(node: ast.expr, constants: Mapping[str, ast.expr]) -> set[str]:
    """The texts that one side of a comparison stands for."""
    if isinstance(node, ast.Constant | ast.Tuple | ast.List | ast.Set | ast.Dict):
        inner = getattr(node, "elts", [])
        return _texts(node).union(*(_said(part, constants) for part in inner if isinstance(part, ast.Name)))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("set", "frozenset", "tuple"):
        return set().union(*(_said(part, constants) for part in node.args))
    if isinstance(node, ast.Name) and node.id in constants:
        value = constants[node.id]
        return set() if isinstance(value, ast.Name) else _said(value, {})
    return set()


def _subject(node: ast.expr) -> str:
    """What is compared: ``release.method`` is a method, ``entry["name"]`` and ``entry.get("name")`` are a name."""
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Name):
        return node.id
    key = (
        node.slice
        if isinstance(node, ast.Subscript)
        else node.args[0]
        if isinstance(node, ast.Call) and node.args
        else None
    )
    return str(key.value) if isinstance(key, ast.Constant) else ""


def _compared(tree: ast.AST, constants: Mapping[str, ast.expr]) -> Iterator[tuple[int, str, set[str]]]:
    """Every comparison: the line, what is compared, and the texts it is compared with."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            for one, other in pairwise(sides):
                yield node.lineno, _subject(one), _said(other, constants)
                yield node.lineno, _subject(other), _said(one, constants)
        elif isinstance(node, ast.Match):
            for case in node.cases:
                yield case.pattern.lineno, _subject(node.subject), _texts(case.pattern)
        elif isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Constant):
            yield node.lineno, _subject(node.slice), _looked_up(node.value, constants)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            if node.func.attr in ("get", "pop", "index", "count", "__contains__"):
                yield node.lineno, _subject(node.args[0]), _looked_up(node.func.value, constants)
            if node.func.attr in ("startswith", "endswith", "removeprefix", "__eq__", "__ne__"):
                yield node.lineno, _subject(node.func.value), _said(node.args[0], constants)
            if node.func.attr in ("eq", "ne", "contains") and len(node.args) == 2:
                for one, other in (node.args, node.args[::-1]):
                    yield node.lineno, _subject(one), _said(other, constants)


def _looked_up(node: ast.expr, constants: Mapping[str, ast.expr]) -> set[str]:
    """The keys of a table that something is looked up in."""
    value = constants.get(node.id) if isinstance(node, ast.Name) else node
    return _texts(value) - WORDS if isinstance(value, ast.Dict) else set()


def test_nobody_compares_by_name() -> None:
    assert compared_by_name(PACKAGE) == []


FAULTS = {
    "equal": 'def f(claim):\n    return claim["name"] == "l-diversity"\n',
    "turned round": 'def f(claim):\n    return "l-diversity" != claim.name\n',
    "get": 'def f(entry):\n    return entry.get("name") == "k-anonymity"\n',
    "one of a tuple": 'def f(finding):\n    return finding.name in ("k-anonymity", "kl-anonymity")\n',
    "none of a set": 'def f(release):\n    return release.method not in {"incognito"}\n',
    "a list inside": 'def f(release):\n    return "minimality" in [release.attack]\n',
    "a form": 'def f(form):\n    return form.name == "drawn"\n',
    "a constant": 'KEY = "l-diversity"\ndef f(name):\n    return name == KEY\n',
    "constants": 'KEY = "t-closeness"\nKEYS = frozenset({"l-diversity"})\ndef f(name):\n    return name in KEYS\n',
    "a tuple of a constant": 'KEY = "t-closeness"\ndef f(name):\n    return name in (KEY, "else")\n',
    "imported": "from undercover.words import KEY\ndef f(name):\n    return name == KEY\n",
    "match": 'def f(method):\n    match method.name:\n        case "anatomy" | "mondrian":\n            return 1\n',
    "a table": 'TITLES = {"k-anonymity": "k"}\ndef f(name):\n    return TITLES[name]\n',
    "a table of a function": 'def f(entry):\n    asked = {"k-anonymity": "k"}\n    return entry.name in asked\n',
    "get of a table": 'def f(name):\n    return {"k-anonymity": "k"}.get(name)\n',
    "beginning": 'def f(attack):\n    return attack.startswith("linkage")\n',
    "operator": 'import operator\ndef f(name):\n    return operator.eq(name, "anatomy")\n',
    "method": 'def f(name):\n    return name.__eq__("anatomy")\n',
    "a result's name": 'def g():\n    return {"attack": "odd"}\ndef f(found):\n    return found["attack"] == "odd"\n',
    "like a parameter": 'def g(method: Literal["anatomy"]): ...\ndef f(run):\n    return run.method == "anatomy"\n',
}


@pytest.mark.parametrize("fault", FAULTS)
def test_every_spelling_is_found(fault: str, tmp_path: Path) -> None:
    root = planted(tmp_path, {"verbs/bad.py": FAULTS[fault], "words.py": 'KEY = "beta-likeness"\n'})
    (found,) = {entry.split(":")[0] for entry in compared_by_name(root)}
    assert found == "verbs/bad.py"


def test_what_is_no_comparison_by_name_passes(tmp_path: Path) -> None:
    good = (
        'Way = Literal["mondrian", "specialize"]\n'
        "class Method:\n    recoding: Way\n"
        'def f(method, promise):\n    return method.recoding == "mondrian" or promise.holds_jointly(0)\n'
        'def g(make):\n    return make("attacks", "informed")\n'
        "def h(column, name):\n    return column.name == name\n"
    )
    assert compared_by_name(planted(tmp_path, {"verbs/good.py": good, "plugins.py": FAULTS["a table"]})) == []
