"""`make shape`: the house in figures, each beside what it was before the rebuild and what it must be.

Read from the source alone, but for the journeys, which are traced; ``--no-journeys`` leaves those out, ``--places``
lists after the table every place that keeps a figure from what it must be.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import grimp
from halves import cells_read, shared, shared_functions
from journeys import travelled
from limits import LIMITS, MOST_ARGUMENTS, PAPERS, Limit
from naming import named
from sources import PACKAGE, arguments, functions, kernels, length, loaded_by_name, slices, sources, widest

from undercover.plugins import BUILT_IN

SHOWN = "mutual-cover"  # the method whose rooms have a limit; the others are listed beside it


def rooms_and_files(root: Path = PACKAGE) -> dict[str, tuple[set[str], int]]:
    """Of every method: the rooms besides its slice in which it is named, and how many files are about it alone.

    Files of its slice count, but for folders' own one-line files, and files elsewhere that bear its name.
    """
    found = {}
    places = named(root)
    for method in slices("methods", BUILT_IN["methods"]):
        own = [source for source in sources(root) if source.name.startswith(method.folder) and source.lines > 1]
        bearing = [
            source
            for source in sources(root)
            if method.name.replace("-", "_") in source.name and not source.within((method.folder, PAPERS))
        ]
        outside = {place.file for place in places if place.what == method.name}
        found[method.name] = ({file.partition("/")[0] for file in outside}, len(own) + len(bearing))
    return found


def run_signatures(root: Path = PACKAGE) -> dict[str, list[str]]:
    """The attacks that have each signature of ``run``."""
    by_module = {source.module: source for source in sources(root)}
    found: dict[str, list[str]] = {}
    for name, target in BUILT_IN["attacks"].items():
        module, _, attribute = target.partition(":")
        for node in by_module[module].nodes if module in by_module else ():
            if isinstance(node, ast.ClassDef) and node.name == attribute:
                for part in node.body:
                    if isinstance(part, ast.FunctionDef) and part.name == "run":
                        found.setdefault(_untyped(part.args), []).append(name)
    return found


def _untyped(given: ast.arguments) -> str:
    """Arguments as they are written, without their types."""
    bare = ast.parse(ast.unparse(ast.FunctionDef("run", given, [ast.Pass()], [], lineno=1, type_params=[])))
    for argument in ast.walk(bare):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    return ast.unparse(bare).partition(":\n")[0].removeprefix("def ")


@cache
def one_importer(root: Path = PACKAGE) -> list[str]:
    """Modules that exactly one other module imports, with that one, and that nobody loads by name.

    What is loaded by name (a plug-in, a public name, a command) is there for whoever asks for it, and the package
    itself for those outside.
    """
    graph = grimp.build_graph(root.name, cache_dir=None)
    inside = graph.modules - loaded_by_name(graph.modules, root) - {root.name}
    importers = {module: graph.find_modules_that_directly_import(module) for module in sorted(inside)}
    return [f"{module} by {next(iter(found))}" for module, found in importers.items() if len(found) == 1]


def measured(journeys: Mapping[str, Any]) -> dict[str, float]:
    """Every figure of the table, by the key of its limit."""
    rooms, files = rooms_and_files()[SHOWN]
    lines = {compiled: [s.lines for s in sources() if s.is_kernel is compiled] for compiled in (False, True)}
    return {
        "naming": len({place.file for place in named()}),
        "rooms": len(rooms),
        "files": files,
        "shared": len(shared_functions()),
        **{key: value for key, value in journeys.items() if key != "who"},
        "cells": len({line.partition(":")[0] for line in cells_read()}),
        "signatures": len(run_signatures()),
        "widest": max(widest().values()),
        "one_importer": round(100 * len(one_importer()) / len(sources()), 1),
        "largest": max(length(function) for source in sources() for function in functions(source)),
        "arguments": sum(arguments(kernel) > MOST_ARGUMENTS for source in sources() for kernel in kernels(source)),
        "longest": max(lines[False]),
        "longest_kernel": max(lines[True]),
        "lines": sum(map(sum, lines.values())),
    }


def row(limit: Limit, value: float | None) -> str:
    """One line of the table."""
    goal = f"{'<= ' if limit.sense == 'at most' and limit.goal else ''}{limit.goal:,}"
    met = "-" if value is None else "yes" if limit.met(value) else "no"
    shown = "-" if value is None else f"{value:,}"
    return f"{limit.title:<76} {limit.before:>8} {shown:>8} {goal:>10}  {met}"


def places(journeys: Mapping[str, Any]) -> dict[str, list[str]]:
    """Every place that keeps a figure from what it must be."""
    from test_sizes import too_large, too_long, too_many_arguments, too_wide

    return {
        "names a method or form": [str(place) for place in named()],
        "shares code with verification": shared(),
        "reads the cells of published tables": cells_read(),
        **{who: [f"{place} ({n})" for place, n in found.items()] for who, found in journeys.get("who", {}).items()},
        "attacks by signature": [f"{signature}: {', '.join(names)}" for signature, names in run_signatures().items()],
        "folders": too_wide(),
        "files": too_long(),
        "functions": too_large(),
        "kernels": too_many_arguments(),
        "modules with one importer": one_importer(),
    }


def main() -> None:
    """Print the table, and what single methods look like."""
    journeys = {} if "--no-journeys" in sys.argv else travelled()
    found = measured(journeys)
    lines = [f"{'':<76} {'before':>8} {'now':>8} {'goal':>10}  met"]
    lines += [row(limit, found.get(key)) for key, limit in LIMITS.items()]
    lines += ["", f"{len(one_importer())} of {len(sources())} modules have one importer."]
    lines += ["", f"{'method':<28} {'files':>6}  rooms besides its slice"]
    for name, (rooms, files) in rooms_and_files().items():
        lines.append(f"{name:<28} {files:>6}  {', '.join(sorted(rooms)) or '-'}")
    for title, listed in places(journeys).items() if "--places" in sys.argv else ():
        lines += ["", f"{title}: {len(listed)}", *(f"  {place}" for place in listed)]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
