"""The contract every engine keeps: whole counts, parts that hold every row once, and no say in what is published."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from undercover import plugins
from undercover.errors import ParameterError
from undercover.model.protocols import Engine
from undercover.model.table import Table
from undercover.testing.holding import SEED, examples_of, in_bytes, must
from undercover.testing.tables import MARKED, marked
from undercover.verbs.publish import publish

THREADS = (1, 2, 5)


def check_engine(engine: str | Callable[[int], Engine]) -> None:
    """Hold an engine to its contract.

    Parameters
    ----------
    engine
        The name of an engine, which is then made with ``threads=``; or what makes one of some threads.

    Examples
    --------
    >>> check_engine("local")
    """
    if isinstance(engine, str):
        kind = plugins.load("engines", engine)
        must(kind.name == engine, f"The engine {kind.name} is offered under the name {engine}.")
        check_engine(lambda threads: kind(threads=threads))
        return
    table = Table.from_arrow(marked(), MARKED)
    must(engine(1).threads == 1, f"The engine {engine(1).name} of 1 thread has {engine(1).threads}.")
    counts_every_code(engine(1), table)
    for threads in THREADS:
        parts_hold_every_row_once(engine(threads), table)
        parts_are_cut_by_quasi_identifiers(engine, threads, table)
    hands_errors_on(engine(2), table)
    changes_no_release(engine)


def counts_every_code(engine: Engine, table: Table) -> None:
    """A histogram has a place for every code, those that do not occur included."""
    for one in (table, table.take(np.arange(3))):
        for name in table.schema.published:
            expected = np.bincount(one[name].codes, minlength=one[name].domain.size).tolist()
            found = engine.histogram(one, name).tolist()
            must(found == expected, f"{engine.name}: the histogram of {name} is {found}, not {expected}.")


def parts_hold_every_row_once(engine: Engine, table: Table) -> None:
    """Every row lies in one part, whose table has the row's values by the same codes."""
    parts = engine.map_parts(table, lambda part: part)
    rows = sorted(row for found, _ in parts for row in found.tolist())
    must(rows == list(range(table.n_rows)), f"{engine.name}: the parts do not hold every row once.")
    for found, part in parts:
        for name in table.schema.published:
            alike = part[name].codes.tolist() == table[name].codes[found].tolist()
            alike &= part[name].domain.labels == table[name].domain.labels
            must(alike, f"{engine.name}: a part has other values of {name} than its rows.")


def parts_are_cut_by_quasi_identifiers(engine: Callable[[int], Engine], threads: int, table: Table) -> None:
    """Parts depend neither on threads nor on sensitive values."""
    others = {name: replace(table[name], codes=np.roll(table[name].codes, 1)) for name in table.schema.sensitive}
    expected = [rows.tolist() for rows, _ in engine(1).map_parts(table, lambda part: part.n_rows)]
    for one in (table, replace(table, columns={**table.columns, **others})):
        found = engine(threads).map_parts(one, lambda part: part.n_rows)
        must(
            [rows.tolist() for rows, _ in found] == expected and [n for _, n in found] == list(map(len, expected)),
            f"{engine(1).name}: the parts depend on threads or on sensitive values.",
        )


def hands_errors_on(engine: Engine, table: Table) -> None:
    """An error in the work reaches the caller as it is."""

    def fail(part: Table) -> None:
        raise ParameterError("no")

    try:
        engine.map_parts(table, fail)
    except ParameterError:
        return
    raise AssertionError(f"{engine.name}: an error in the work does not reach the caller.")


def changes_no_release(engine: Callable[[int], Engine]) -> None:
    """A seed gives the same release on any number of threads, and the same as on the local engine."""
    method = next(one for name in plugins.names("methods") for one in examples_of(name, "safe"))
    local = in_bytes(publish(marked(), MARKED, method, seed=SEED).release)
    for threads in THREADS:
        made = publish(marked(), MARKED, method, seed=SEED, engine=engine(threads))
        must(in_bytes(made.release) == local, f"{engine(1).name}: another release on {threads} threads.")
