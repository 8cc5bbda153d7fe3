"""The source as trees of syntax, and what a file imports, names and reads: the eyes of every check of the shape."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "src" / "undercover"


@dataclass(frozen=True)
class Source:
    """One file of the package."""

    root: Path
    path: Path

    @cached_property
    def name(self) -> str:
        """Its path inside the package."""
        return self.path.relative_to(self.root).as_posix()

    @cached_property
    def module(self) -> str:
        """The name it is imported by, as a module of `undercover`."""
        parts = [part for part in self.name.removesuffix(".py").split("/") if part != "__init__"]
        return ".".join(["undercover", *parts])

    @cached_property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def lines(self) -> int:
        return len(self.text.splitlines())

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """All of its syntax."""
        return list(ast.walk(self.tree))

    @cached_property
    def docstrings(self) -> frozenset[int]:
        """Which nodes are texts that stand alone: they explain, they do nothing."""
        alone = (node.value for node in self.nodes if isinstance(node, ast.Expr))
        return frozenset(id(node) for node in alone if isinstance(node, ast.Constant))

    @property
    def is_kernel(self) -> bool:
        """Whether its functions are compiled."""
        return any(True for _ in kernels(self))

    def within(self, places: Iterable[str]) -> bool:
        """Whether it is one of some files, or in one of some folders, which end with a slash."""
        return any(self.name.startswith(place) if place.endswith("/") else self.name == place for place in places)

    def imports(self) -> Iterator[tuple[str, str]]:
        """Module and name of all that it imports when it runs; the name is empty where the module itself is."""
        typed = {
            id(node)
            for block in self.nodes
            if isinstance(block, ast.If) and "TYPE_CHECKING" in ast.dump(block.test)
            for node in ast.walk(block)
        }
        for node in self.nodes:
            if id(node) in typed:
                continue
            if isinstance(node, ast.Import):
                yield from ((alias.name, "") for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                yield from ((node.module, alias.name) for alias in node.names)


def sources(root: Path = PACKAGE) -> tuple[Source, ...]:
    """Every file of a package."""
    return _sources(root)


@cache
def _sources(root: Path) -> tuple[Source, ...]:  # a default would be another key than the same folder, given
    return tuple(Source(root, path) for path in sorted(root.rglob("*.py")) if "__pycache__" not in path.parts)


def loaded_by_name(modules: Collection[str], root: Path = PACKAGE) -> frozenset[str]:
    """Which modules a text of another file names, as tables of what is loaded later do.

    The text is the module's name, alone or with one of its own behind a colon; or a name that the same file puts behind
    a folder's, as that of a command.
    """
    found: set[str] = set()
    for source in sources(root):
        own = source.module.replace("undercover", root.name, 1)
        written = [node for node in source.nodes if id(node) not in source.docstrings]
        texts = {node.value for node in written if isinstance(node, ast.Constant) and isinstance(node.value, str)}
        folders = {_beginning(node, own) for node in written if isinstance(node, ast.JoinedStr)}
        texts |= {folder + text.replace("-", "_") for folder in folders for text in texts}
        found |= {text.partition(":")[0] for text in texts} & set(modules) - {own}
    return frozenset(found)


def _beginning(text: ast.JoinedStr, own: str) -> str:
    """What a text begins with that is put together, up to its first gap; the module's ``own`` name may stand there."""
    known = ""
    for part in text.values:
        if isinstance(part, ast.Constant):
            known += str(part.value)
        elif isinstance(part, ast.FormattedValue) and ast.unparse(part.value) == "__name__":
            known += own
        else:
            break
    return known


@dataclass(frozen=True)
class Slice:
    """A plug-in with a folder of its own: what it is called, and how code can name it."""

    name: str
    folder: str
    classes: tuple[str, ...]


def slices(kind: str, built_in: Mapping[str, str], root: Path = PACKAGE) -> tuple[Slice, ...]:
    """The built-in plug-ins of a kind that have a folder of their own."""
    found = []
    for name, target in built_in.items():
        module, _, attribute = target.partition(":")
        folder = f"{kind}/{module.split('.')[2]}/"
        classes = (name.title().replace("-", ""),) if kind == "forms" else (attribute,)
        found.append(Slice(name, folder, classes))
    return tuple(found)


def kernels(source: Source) -> Iterator[ast.FunctionDef]:
    """The functions of a file that are compiled."""
    for node in source.nodes:
        if isinstance(node, ast.FunctionDef) and any(
            isinstance(mark, ast.Name) and mark.id in ("kernel", "internal", "borrowing", "inlined", "arithmetic")
            for mark in node.decorator_list
        ):
            yield node


def functions(source: Source) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function of a file."""
    for node in source.nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function, from its name to its end."""
    return (node.end_lineno or node.lineno) - node.lineno + 1


def arguments(node: ast.FunctionDef) -> int:
    """How many arguments a function has."""
    return len([*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs])


def widest(root: Path = PACKAGE) -> dict[str, int]:
    """Files in every folder."""
    counted: dict[str, int] = {}
    for source in sources(root):
        folder = source.path.parent.relative_to(root).as_posix()
        counted[folder] = counted.get(folder, 0) + 1
    return counted
