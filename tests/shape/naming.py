"""Who names a method or a form, and who asks a release by a name, found in the syntax.

A method is named by an identifier, an import or a text outside a docstring in which its name stands, however it is
joined: ``MutualCover``, ``mutual_cover``, ``"mutual-cover"``, ``"mutual cover"``. A form's name is a common word, so it
counts where it can only mean the form: its class, its folder, ``is_drawn``, a text that is compared with. Whoever makes
tables states a form by calling its class; everything else asks.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from limits import MAY_NAME_FORMS, MAY_NAME_METHODS, MAY_STATE_FORMS
from sources import PACKAGE, Slice, Source, slices, sources

PLAINEST = "generalized"  # tables made elsewhere are of this form; anybody may say so


@dataclass(frozen=True, order=True)
class Named:
    """One place that names what it should not."""

    file: str
    line: int
    what: str
    how: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.how} `{self.what}`"


def named(root: Path = PACKAGE) -> tuple[Named, ...]:
    """Every place of the package that names a method or a form outside its slice, or asks for it."""
    return _named(root)


@cache
def _named(root: Path) -> tuple[Named, ...]:
    from undercover.plugins import BUILT_IN

    methods, forms = slices("methods", BUILT_IN["methods"]), slices("forms", BUILT_IN["forms"])
    found: set[Named] = set()
    for source in sources(root):
        if not source.within(MAY_NAME_METHODS):
            found |= set(methods_named(source, methods)) | set(asked_by_name(source))
        if not source.within(MAY_NAME_FORMS):
            found |= set(forms_asked(source, forms))
    return tuple(sorted(found))


def methods_named(source: Source, methods: Sequence[Slice]) -> Iterator[Named]:
    """Where a file names a method whose slice it is not in."""
    others = {_plain(method.name): method.name for method in methods if not source.name.startswith(method.folder)}
    if not others:
        return
    looked_for = re.compile("|".join(others))
    for line, text, how in _words(source):
        for hit in set(looked_for.findall(_plain(text))):
            yield Named(source.name, line, others[hit], how)


def asked_by_name(source: Source) -> Iterator[Named]:
    """Where a file compares ``something.method`` with anything: a question to which a name is the answer."""
    for node in source.nodes:
        if isinstance(node, ast.Compare):
            for side in (node.left, *node.comparators):
                if isinstance(side, ast.Attribute) and side.attr == "method":
                    yield Named(source.name, node.lineno, ast.unparse(node), "asks")
        elif isinstance(node, ast.Match) and isinstance(node.subject, ast.Attribute) and node.subject.attr == "method":
            yield Named(source.name, node.lineno, ast.unparse(node.subject), "asks")


def forms_asked(source: Source, forms: Sequence[Slice]) -> Iterator[Named]:
    """Where a file asks which form a release has, or reaches into the slice of one."""
    states = source.within(MAY_STATE_FORMS)
    others = [form for form in forms if not source.name.startswith(form.folder)]
    names = {form.name for form in others}
    classes = {cls: form.name for form in others for cls in form.classes}
    predicates = {f"is_{form.name}": form.name for form in others}
    imported = {alias for module, alias in source.imports() if module.endswith("model.form")}
    called = {
        id(node.func)
        for node in source.nodes
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and (states or classes.get(node.func.id) == PLAINEST)
    }
    for node in source.nodes:
        if isinstance(node, ast.Name) and node.id in classes and node.id in imported and id(node) not in called:
            if not (classes[node.id] == PLAINEST and _is_default(source, node)):
                yield Named(source.name, node.lineno, node.id, "asks for the form")
        elif isinstance(node, ast.Name) and node.id in predicates:
            yield Named(source.name, node.lineno, node.id, "asks for the form")
        elif isinstance(node, ast.Compare):
            for side in (node.left, *node.comparators):
                if isinstance(side, ast.Attribute) and side.attr == "name" and ast.unparse(side).endswith("form.name"):
                    yield Named(source.name, node.lineno, ast.unparse(node), "asks for the form")
            if any(part.value in names for part in _texts(node)) and "form" in ast.unparse(node):
                yield Named(source.name, node.lineno, ast.unparse(node), "asks for the form")
    for module, _ in source.imports():
        for form in others:
            if f"{module}.".startswith(f"undercover.{form.folder.replace('/', '.')}"):
                yield Named(source.name, 0, form.name, "imports the slice of the form")


def _is_default(source: Source, name: ast.Name) -> bool:
    """Whether a class stands as ``default_factory=...``: what is said where nothing is said."""
    return any(
        isinstance(node, ast.keyword) and node.arg == "default_factory" and node.value is name for node in source.nodes
    )


def _words(source: Source) -> Iterator[tuple[int, str, str]]:
    """Identifiers, imports and texts of a file, each with its line and what it is."""
    for node in source.nodes:
        if isinstance(node, ast.Name):
            yield node.lineno, node.id, "identifier"
        elif isinstance(node, ast.Attribute):
            yield node.lineno, node.attr, "identifier"
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.lineno, node.name, "identifier"
        elif isinstance(node, ast.arg | ast.keyword) and node.arg:
            yield node.lineno, node.arg, "identifier"
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, f"{node.module}.{'.'.join(alias.name for alias in node.names)}", "import"
        elif isinstance(node, ast.Import):
            yield node.lineno, ".".join(alias.name for alias in node.names), "import"
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in source.docstrings:
            yield node.lineno, node.value, "text"


def _texts(node: ast.AST) -> Iterator[ast.Constant]:
    return (part for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str))


def _plain(text: str) -> str:
    return re.sub(r"[\s_-]", "", text).lower()
