"""Compiles every kernel the tests call, on every core, before they start: otherwise each worker compiles for itself.

``python tests/compile_ahead.py`` publishes, attacks and measures small tables by every recipe of the goldens, several
at a time. A kernel is compiled by one process while the others wait for it or do something else; all later ones load it
from the disk. Where everything is compiled already this takes a few seconds.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent / "golden"))

ATTACKED = 400
"""Rows of a recipe; the kernels are the same as for many."""

LONGEST = ("codes", "mutual-cover-optimal", "cross-bucket-paper", "mutual-cover-guided", "streamliner-gda")
"""What takes longest to compile, begun first so that nobody waits for it at the end."""


def pieces() -> dict[str, Callable[[], None]]:
    """What is to be done, by a name for each piece; they share kernels, but in no order."""
    from recipes import RECIPES

    done = {name: (lambda name=name: _recipe(name)) for name in RECIPES}
    return done | {
        "codes": _code_widths,
        "joint": _joint,
        "ria": _ria,
    }


def _recipe(name: str) -> None:
    """Publish by a recipe, and have everybody attack the release who can."""
    from recipes import RECIPES

    import undercover as uc
    from undercover import plugins
    from undercover.errors import UndercoverError
    from undercover.utility.queries.sums import sums_of_each

    recipe = RECIPES[name]
    method = recipe.method()
    if recipe.others is not None:
        other = uc.publish(recipe.others.table(), recipe.others.schema(), recipe.others.method(), seed=1)
        method = type(method)(**{**vars(method), "others": (uc.published(other, name="other"),)})
    people = recipe.table()
    with suppress(UndercoverError):
        run = uc.publish(people, recipe.schema(), method, seed=1)
        attackers = [plugins.load("attacks", name)() for name in plugins.BUILT_IN["attacks"]]
        for attacker in (uc.Linkage(p_match=0.5), *attackers):
            with suppress(UndercoverError):
                uc.attack(run, attacker)
        sums = sums_of_each(run.original, run.release, 20) if run.original is not None else ()
        uc.measure(people, run, query_error=uc.QueryError(queries=20), sum_error=sums)


def _code_widths() -> None:
    """Columns with so many values that their codes are stored in one, two or four bytes.

    By one process: what the cutting kernels call and does not see codes is then compiled once, a third of the work.
    """
    import pyarrow as pa

    import undercover as uc

    for values in (1 << 7, 1 << 9, 1 << 17):
        numbers = pa.array(range(values))
        table = pa.table({"a": numbers, "b": numbers, "c": pa.array([str(i % 3) for i in range(values)])})
        schema = uc.Schema(quasi_identifiers=["a", "b"], sensitive="c")
        uc.publish(table, schema, uc.Mondrian(k=values // 3), seed=1)
        uc.publish(table, schema, uc.Mondrian(k=values // 3, recoding="regions", cut="median"), seed=1)


def _joint() -> None:
    """Tables of several publishers, joined."""
    import undercover as uc

    people = uc.datasets.census(ATTACKED)
    schemas = [uc.datasets.census_schema(names) for names in (["age", "sex"], ["education"])]
    runs = [uc.publish(people, schema, uc.Mondrian(k=20), seed=1) for schema in schemas]
    uc.joint_risk(runs)


def _ria() -> None:
    """Partners drawn one by one, which no recipe does."""
    import undercover as uc

    schema = uc.datasets.census_schema(["age", "sex"])
    uc.publish(uc.datasets.census(ATTACKED), schema, uc.Streamliner(l=2, algorithm="ria", allow_unsafe=True), seed=1)


TOOK: list[tuple[str, float]] = []
"""What this process compiled or loaded for the piece it is at, and how long that took."""


def noting() -> None:
    """From now on this process writes down which cached kernels it compiles or loads; nobody compiles what another is
    compiling, see ``undercover.compiled.kept``."""
    from numba.core.caching import NullCache
    from numba.core.dispatcher import Dispatcher

    compile_now = Dispatcher.compile

    def compile_and_note(self: Any, signature: Any) -> Any:
        begun = time.thread_time()
        compiled = compile_now(self, signature)
        if not isinstance(self._cache, NullCache):
            TOOK.append((f"{self.py_func.__module__}.{self.py_func.__name__}", time.thread_time() - begun))
        return compiled

    Dispatcher.compile = compile_and_note


def work(name: str) -> tuple[str, float, list[tuple[str, float]]]:
    """Do one piece; returns how long it took, and what was compiled or loaded for it."""
    TOOK.clear()
    begun = time.perf_counter()
    pieces()[name]()
    return name, time.perf_counter() - begun, TOOK


def main() -> None:
    """Do all pieces, one more at a time than there are cores, since some wait for others."""
    names = sorted(pieces(), key=lambda name: LONGEST.index(name) if name in LONGEST else len(LONGEST))
    begun = time.perf_counter()
    with multiprocessing.get_context("spawn").Pool((os.cpu_count() or 1) + 1, noting) as pool:
        for name, seconds, took in pool.imap_unordered(work, names):
            if "--verbose" in sys.argv:
                print(f"{name:<44} {seconds:6.1f} s", *(f"{k} {t:.1f}" for k, t in took if t > 0.3), flush=True)
    print(f"Kernels are compiled: {time.perf_counter() - begun:.0f} s.")


if __name__ == "__main__":
    main()
