"""The contract every engine keeps: whole counts, parts by quasi-identifiers alone, and what is promised holds on them.

An engine with one part publishes what the local engine does. One that cuts tables into parts may publish something
else, but nothing that a promise, a seed or an error would notice, and little that a measure would.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from undercover import plugins
from undercover.engines.divided import OnOnePart
from undercover.engines.local import LocalEngine
from undercover.errors import ParameterError, UndercoverError, UnreachableError
from undercover.model.protocols import Engine, Method
from undercover.model.run import Draft
from undercover.model.table import Table
from undercover.randomness import Randomness
from undercover.testing.holding import SEED, examples_of, in_bytes, must
from undercover.testing.tables import MARKED, crowd, marked
from undercover.threads import however_little
from undercover.verbs.measure import measure
from undercover.verbs.publish import publish, publish_table
from undercover.verbs.verify import verify

THREADS = (1, 5)
PARTS = (1, 3)
FARTHER, MORE = 0.1, 0.02
"""By how much more a method may lose on parts: this share of what it loses on one, and this much."""

Making = Callable[[int, int], Engine]
"""What makes an engine of so many threads and so many parts."""


def check_engine(engine: str | Making) -> None:
    """Hold an engine to its contract.

    Parameters
    ----------
    engine
        The name of an engine, which is then made with ``threads=`` and ``parts=``; or what makes one of both numbers.

    Examples
    --------
    >>> check_engine("local")
    """
    if isinstance(engine, str):
        kind = plugins.load("engines", engine)
        must(kind.name == engine, f"The engine {kind.name} is offered under the name {engine}.")
        check_engine(lambda threads, parts: kind(threads=threads, parts=parts))
        return
    table = Table.from_arrow(marked(), MARKED)
    one = engine(1, 3)
    must((one.threads, one.parts) == (1, 3), f"{one.name} of 1 thread and 3 parts has {one.threads} and {one.parts}.")
    encodes_as_here(engine(1, 1))
    counts_every_code(engine(1, 1), table)
    counts_every_combination(engine(1, 1), table)
    for parts in PARTS:
        held = [parts_hold_every_row_once(engine(threads, parts), table) for threads in THREADS]
        for threads, found in zip(THREADS, held, strict=True):
            must(found == held[0], f"{one.name}: the parts depend on threads or on sensitive values.")
            parts_are_cut_by_quasi_identifiers(engine(threads, parts), table, found)
        hands_errors_on(engine(2, parts), table)
    parts_are_as_asked_for(engine(2, 3), table)
    the_same_part_is_made_twice(engine(2, 3), table)
    a_seed_is_a_release(engine)
    promises_hold_on_parts(engine(2, 3))
    parts_cost_little(engine(2, 4))


def encodes_as_here(engine: Engine) -> None:
    """A table is encoded as it is here, and what is wrong with one is said in the same words."""
    good, here = marked(), LocalEngine(threads=1)
    given, expected = (one.encode(good, MARKED) for one in (engine, here))
    for name in MARKED.published:
        alike = given[name].domain.labels == expected[name].domain.labels
        must(
            alike and np.array_equal(given[name].codes, expected[name].codes),
            f"{engine.name}: {name} is encoded otherwise than here.",
        )
    bad = {
        "no rows": good.slice(0, 0),
        "a column less": good.drop_columns(["place"]),
        "a missing value": good.set_column(2, "years", pa.array([None, *good["years"].to_pylist()[1:]])),
        "a column twice": good.append_column("years", good["years"]),
    }
    for what, data in bad.items():
        said = [_refusal(one.encode, data, MARKED) for one in (engine, here)]
        must(said[0] == said[1], f"{engine.name}: a table with {what} is refused as {said[0]}, here as {said[1]}.")


def _refusal(work: Callable[..., Any], *given: Any, **how: Any) -> tuple[str, str] | None:
    try:
        work(*given, **how)
    except UndercoverError as error:
        return type(error).__name__, str(error)
    return None


def counts_every_code(engine: Engine, table: Table) -> None:
    """A histogram has a place for every code, those that do not occur included."""
    for one in (table, table.take(np.arange(3))):
        for name in table.schema.published:
            expected = np.bincount(one[name].codes, minlength=one[name].domain.size).tolist()
            found = engine.histogram(one, name).tolist()
            must(found == expected, f"{engine.name}: the histogram of {name} is {found}, not {expected}.")


def counts_every_combination(engine: Engine, table: Table) -> None:
    """A cube is a group-by: every combination that occurs once, in order, with its rows."""
    for columns in (table.schema.quasi_identifiers, (*table.schema.sensitive, table.schema.quasi_identifiers[0])):
        expected: dict[tuple[int, ...], int] = {}
        for row in sorted(zip(*(table[name].codes.tolist() for name in columns), strict=True)):
            expected[row] = expected.get(row, 0) + 1
        cube = engine.cube(table, columns)
        found = list(zip(*(codes.tolist() for codes in cube.codes), strict=True))
        counts = [] if cube.counts is None else cube.counts.tolist()
        must(
            cube.columns == tuple(columns) and found == list(expected) and counts == list(expected.values()),
            f"{engine.name}: the cube of {', '.join(columns)} is not what a group-by counts.",
        )


def parts_hold_every_row_once(engine: Engine, table: Table) -> list[list[int]]:
    """Every row lies in one part, whose table has the row's values by the same codes and knows of the whole.

    Returns
    -------
    list
        The rows of every part.
    """
    parts = engine.map_parts(table, _itself)
    rows = sorted(row for found, _ in parts for row in found.tolist())
    must(rows == list(range(table.n_rows)), f"{engine.name}: the parts do not hold every row once.")
    must(1 <= len(parts) <= engine.parts, f"{engine.name}: {len(parts)} parts where {engine.parts} were asked for.")
    for number, (found, part) in enumerate(parts):
        for name in table.schema.published:
            alike = part[name].codes.tolist() == table[name].codes[found].tolist()
            alike &= part[name].domain.labels == table[name].domain.labels
            must(alike, f"{engine.name}: a part has other values of {name} than its rows.")
        if len(parts) == 1:
            must(part.part is None, f"{engine.name}: the only part says it is one of several.")
            continue
        told = {name: counts.tolist() for name, counts in part.part.counts.items()}
        counted = {name: engine.histogram(table, name).tolist() for name in table.schema.sensitive}
        must((part.part.number, told) == (number, counted), f"{engine.name}: a part does not know of the whole.")
        inside = [part.part.holds(name)[part[name].codes].all() for name in table.schema.quasi_identifiers]
        must(all(inside), f"{engine.name}: a part has rows outside the box it was cut to.")
    return [found.tolist() for found, _ in parts]


def parts_are_cut_by_quasi_identifiers(engine: Engine, table: Table, expected: list[list[int]]) -> None:
    """Parts depend neither on sensitive values nor on the order of rows."""
    others = {name: replace(table[name], codes=np.roll(table[name].codes, 1)) for name in table.schema.sensitive}
    found = engine.map_parts(replace(table, columns={**table.columns, **others}), _rows)
    must(
        [rows.tolist() for rows, _ in found] == expected and [n for _, n in found] == list(map(len, expected)),
        f"{engine.name}: the parts depend on threads or on sensitive values.",
    )
    order = np.arange(table.n_rows)[::-1]
    turned = [sorted(order[rows].tolist()) for rows, _ in engine.map_parts(table.take(order), _rows)]
    must(turned == [sorted(rows) for rows in expected], f"{engine.name}: the parts depend on the order.")


def parts_are_as_asked_for(engine: Engine, table: Table) -> None:
    """As many as asked for, none too small, and nothing cut apart that must stay together."""
    (first, *_), half = table.schema.quasi_identifiers, table.n_rows // 2
    counted = [len(engine.map_parts(table, _rows, parts=parts)) for parts in (1, 2)]
    must(counted == [1, 2], f"{engine.name}: {counted} parts where 1 and 2 were asked for.")
    sizes = [n for _, n in engine.map_parts(table, _rows, parts=8, least=half)]
    must(min(sizes) >= half, f"{engine.name}: a part of {min(sizes)} rows where {half} were asked for at least.")
    nodes = np.arange(table[first].domain.size) % 2
    found = engine.map_parts(table, _itself, parts=8, together={first: nodes})
    held = [set(nodes[part[first].codes].tolist()) for _, part in found]
    must(held == [{0}, {1}], f"{engine.name}: values that must stay together were cut apart.")


def hands_errors_on(engine: Engine, table: Table) -> None:
    """An error in the work reaches the caller as it is."""
    try:
        engine.map_parts(table, _fail)
    except ParameterError as error:
        must(str(error) == "no", f"{engine.name}: an error in the work says something else: {error}.")
        return
    raise AssertionError(f"{engine.name}: an error in the work does not reach the caller.")


def the_same_part_is_made_twice(engine: Engine, table: Table) -> None:
    """Work that is done again, because a machine was lost, publishes the same rows."""
    for method in _examples():
        twice = _Twice(OnOnePart(method, Randomness(SEED), 1))
        try:
            made = engine.map_parts(table, twice)
        except UnreachableError:
            continue
        must(all(alike for _, alike in made), f"{engine.name}: {method.name} made a part anew and got other rows.")


def a_seed_is_a_release(engine: Making) -> None:
    """A seed gives the same release on any number of threads; of one part the same as on the local engine."""
    method = next(_examples())
    for parts in PARTS:
        expected = None if parts > 1 else in_bytes(publish(marked(), MARKED, method, seed=SEED).release)
        for threads in THREADS:
            with however_little():
                made = publish(marked(), MARKED, method, seed=SEED, engine=engine(threads, parts))
            found = in_bytes(made.release)
            expected = expected or found
            must(found == expected, f"{engine(1, 1).name}: another release on {threads} threads, {parts} parts.")


def promises_hold_on_parts(engine: Engine, *, every: bool = False) -> None:
    """Whatever method is run on parts, what it promises holds of the whole release; what cannot is refused alike.

    It is run with the first of its examples that are safe and of those that are not, or with ``every`` one.
    """
    data = marked()
    table = Table.from_arrow(data, MARKED)
    for method in _examples("safe", "unsafe", every=every):
        run = publish_table(table, method, engine=engine, randomness=Randomness(SEED))
        found = verify(run, original=data)
        must(found.holds is not False, f"{engine.name}: a promise of {method.name} does not hold on parts: {found!r}.")
        accounted = len(run.groups.labels) + run.release.suppressed_rows
        must(accounted == table.n_rows, f"{engine.name}: {method.name} on parts does not say of every row where it is.")
    for method in _examples("unreachable", every=every):
        said = [_refusal(publish_table, table, method, engine=one) for one in (engine, LocalEngine(threads=1))]
        must(said[0] == said[1], f"{engine.name}: {method.name} is refused as {said[0]}, not {said[1]}.")


def parts_cost_little(engine: Engine) -> None:
    """Measures of a release made in parts are near those of one that was not."""
    data = crowd()
    for method in _examples():
        lost = []
        for one in (LocalEngine(threads=1), engine):
            try:
                run = publish(data, MARKED, method, seed=SEED, engine=one)
            except UnreachableError:
                break
            lost.append(measure(data, run).to_dict()["loss"]["iloss"]["arithmetic"])
        if len(lost) == 2:
            whole, parts = lost
            must(
                parts <= whole * (1 + FARTHER) + MORE,
                f"{engine.name}: {method.name} loses {parts:.3f} on parts, {whole:.3f} on one.",
            )


def _examples(*expected: str, every: bool = False) -> Iterator[Method]:
    """Every method with the parameters of its examples: the first of each kind or all; safe ones if none is named."""
    for name in plugins.names("methods"):
        for kind in expected or ("safe",):
            yield from examples_of(name, kind)[: None if every else 1]


def _itself(part: Table) -> Table:
    return part


def _rows(part: Table) -> int:
    return part.n_rows


def _fail(part: Table) -> None:
    raise ParameterError("no")


@dataclass(frozen=True)
class _Twice:
    """Does the work of a part twice: whether both drafts show the same rows."""

    work: OnOnePart

    def __call__(self, part: Table) -> bool:
        drafts = [self.work(part) for _ in range(2)]
        return _shown(drafts[0]) == _shown(drafts[1])


def _shown(draft: Draft) -> tuple[Any, ...]:
    return tuple(table.data.to_pydict() for table in draft.tables)
