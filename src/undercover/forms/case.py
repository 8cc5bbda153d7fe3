"""A case: a release beside the table it was made from, with what only its holder knows.

Whatever attacks or measures is handed a case; the release is read once for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from undercover.arrays import count
from undercover.engines.local import LocalEngine
from undercover.errors import NotTold, ParameterError, unknown
from undercover.forms import read
from undercover.forms.dealt.rows import Dealt, row_codes
from undercover.forms.disclosure import distinct_rows
from undercover.forms.reading import Reading, Rows
from undercover.model.protocols import Engine, Method
from undercover.model.release import PublishedColumn, PublishedTable, Release
from undercover.model.run import Run
from undercover.model.table import Table


@dataclass(frozen=True, eq=False)
class Case:
    """A release beside its original; ``run`` is what the holder kept, ``made_by`` gives the method that made it.

    Examples
    --------
    >>> import undercover as uc
    >>> schema = uc.Schema(quasi_identifiers=["age"], sensitive="income")
    >>> run = uc.publish(uc.datasets.census(1000), schema, uc.Mondrian(k=10))
    >>> case = Case.of(run)
    >>> case.known(None), case.reading.covers, case.own is None
    (('age',), True, True)
    """

    original: Table
    release: Release
    run: Run | None = None
    engine: Engine = field(default_factory=LocalEngine)
    made_by: Callable[[], Method] | None = None

    @classmethod
    def of(cls, run: Run) -> Case:
        """The case of a run that still knows its original table."""
        if run.original is None:
            raise NotTold("The run does not hold its original table.")
        return cls(run.original, run.release, run)

    @property
    def threads(self) -> int:
        """Threads a kernel may use."""
        return self.engine.threads

    @cached_property
    def reading(self) -> Reading:
        """The release, read."""
        return read(self.release)

    @cached_property
    def own(self) -> Rows | None:
        """(n_rows,) the published row of each row, where the cells do not say and the run or the form does."""
        return self.reading.own_rows(self.run)

    @cached_property
    def dealt(self) -> Dealt | None:
        """Among which rows everybody's own one was dealt, where rows were and the run says so."""
        return self.reading.dealt(self.run)

    def own_chance(self, known: Sequence[str], people: Rows | None = None) -> NDArray[np.float64] | None:
        """(n_people,) whether a person's own row fits, or how likely that is where rows were dealt; ``None``: always.

        Of everybody, or of the ``people`` in some rows.
        """
        if self.dealt is not None and people is not None and len(known) <= 64:
            bits, starts = self.dealt.columns_that_fit(self.reading, known, self.original, people)
            whole = bits == (1 << len(known)) - 1
            return np.asarray(np.add.reduceat(whole, starts[:-1]) / np.diff(starts))
        if self.dealt is not None:
            every = np.stack([self.original[name].codes for name in known], axis=1).astype(np.int64)
            chance = self.dealt.chance(row_codes(self.reading, known, self.original), every)
            return chance if people is None else chance[people]
        fits = self.reading.own_fits(known, self.original, self.own, people)
        return None if fits is None else np.asarray(fits.all(axis=1), dtype=np.float64)

    @cached_property
    def method(self) -> Method:
        """The method that made the release, with its parameters."""
        if self.made_by is None:
            raise NotTold("Nobody says which method made this release, and with which parameters. Attack the run.")
        return self.made_by()

    @cached_property
    def raw(self) -> Reading:
        """The original as if it were published as it is: what an attacker would get without any protection."""
        return read(as_release(self.original))

    @property
    def by_rows(self) -> str:
        """What an attack has to say that looks at rows where people have several."""
        return "" if self.original.units is None else " Every row is looked at as if it were a person of its own."

    def known(self, asked: Sequence[str] | None, what: str = "An attack") -> tuple[str, ...]:
        """The columns an attacker knows: those asked for, or every quasi-identifier and insensitive column."""
        possible = self.original.schema.quasi_identifiers + self.original.schema.insensitive
        known = possible if asked is None else tuple(asked)
        problems = [unknown("Known column", name, possible) for name in known if name not in possible]
        if problems or not known:
            raise ParameterError(problems or f"{what} needs at least one known column.")
        return known

    def targets(self, known: Sequence[str]) -> tuple[Rows, Rows]:
        """Number of each person among the distinct people, by what is known of them, and these people's codes."""
        return distinct_rows(np.stack([self.original[name].codes for name in known], axis=1).astype(np.int64))

    def guessing(self, name: str) -> dict[str, float]:
        """What is reached on a sensitive column without the release, by its overall distribution alone."""
        column = self.original[name]
        times = count(column.codes, column.domain.size)
        if (missing := column.domain.missing_code) is not None:  # of people who have a value
            times = np.delete(times, missing)
        shares = times / max(int(times.sum()), 1)
        return {"mean": float((shares**2).sum()), "guess_success": float(shares.max(initial=0.0))}

    def baseline(self) -> dict[str, Any]:
        """Guessing, for identity and every sensitive column."""
        guessed = {name: self.guessing(name) for name in self.original.schema.sensitive}
        units = self.original.units
        people = self.original.n_rows if units is None else len(np.unique(units))
        return {"identity": 1.0 / people, "attribute": guessed}


def as_release(original: Table) -> Release:
    """A table as if it were published as it is, insensitive columns among the quasi-identifiers."""
    schema = original.schema
    columns = [PublishedColumn(n, "quasi-identifier", "value") for n in schema.quasi_identifiers + schema.insensitive]
    columns += [PublishedColumn(name, "sensitive", "value") for name in schema.sensitive]
    data = {
        column.name: pa.DictionaryArray.from_arrays(
            pa.array(original[column.name].codes), pa.array(original[column.name].domain.labels, pa.string())
        )
        for column in columns
    }
    release = Release("original", {}, (PublishedTable("table", tuple(columns), pa.table(data)),), True)
    read(release).encoded(original[column.name] for column in columns)
    return release
