"""The two halves of the house: who makes tables and who reads them, what they share, and who touches cells."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from limits import MAY_READ_TABLES, STATED_SHARED
from sources import PACKAGE, Source, sources

READING = ("forms", "guarantees", "attacks", "utility", "analysis")
MAKING = ("methods", "steps", "compiled")
INPUTS = ("given", "experiment")  # how a table that was read in, and a study, are called; they have `data` as well


@cache
def making(root: Path = PACKAGE) -> frozenset[str]:
    """The modules a method makes its tables with: its own ``method`` and whatever of this half that one imports."""
    known = {source.module: source for source in sources(root)}
    waiting = [module for module in known if module.startswith("undercover.methods.") and module.endswith(".method")]
    found: set[str] = set()
    while waiting:
        module = waiting.pop()
        if module in found or module not in known:
            continue
        found.add(module)
        for origin, name in known[module].imports():
            if origin.split(".")[1:2] and origin.split(".")[1] in MAKING:
                waiting += [f"{origin}.{name}" if f"{origin}.{name}" in known else origin]
    return frozenset(found)


def shared(root: Path = PACKAGE) -> list[str]:
    """What making modules import from the reading half, but for the guarantees by which a method says its promise."""
    from undercover.plugins import BUILT_IN

    promises = {target.partition(":")[2] for target in BUILT_IN["guarantees"].values()}
    found = set()
    for source in sources(root):
        if source.module in making(root):
            for origin, name in source.imports():
                room = origin.split(".")[1:2]
                if room and room[0] in READING and name not in promises and origin not in STATED_SHARED:
                    found.add(f"{source.name}: {name or origin} of {origin}")
    return sorted(found)


def shared_functions(root: Path = PACKAGE) -> set[str]:
    """The same, each function once, whoever takes it."""
    return {line.partition(": ")[2] for line in shared(root)}


def cells_read(root: Path = PACKAGE) -> list[str]:
    """Where the cells of a published table are read outside the rooms that read or make them."""
    return [
        f"{source.name}:{node.lineno}: {ast.unparse(node)}"
        for source in sources(root)
        if not source.within(MAY_READ_TABLES) and source.module not in making(root)
        for node in data_of_tables(source)
    ]


def data_of_tables(source: Source) -> Iterator[ast.Attribute]:
    """Every ``something.data`` in a file, unless it is something that was read in rather than published."""
    inputs = {
        *INPUTS,
        *(
            argument.arg
            for argument in source.nodes
            if isinstance(argument, ast.arg) and argument.annotation and ast.unparse(argument.annotation) == "Input"
        ),
    }
    for node in source.nodes:
        if not isinstance(node, ast.Attribute) or node.attr != "data" or not isinstance(node.ctx, ast.Load):
            continue
        whose = node.value
        if isinstance(whose, ast.Call) and ast.unparse(whose.func).split(".")[-1] == "read":
            continue
        if isinstance(whose, ast.Name | ast.Attribute) and ast.unparse(whose).split(".")[-1] in inputs:
            continue
        yield node
