"""A method on an engine that cuts tables into parts: decided once, run on every part, joined.

A part may be refused where the whole table is not: it may hold too much of one sensitive value. Then the *whole* run
falls back to half as many parts, down to one, which is the table. That it did follows from sensitive values and may be
seen, so such a run is no longer called safe; one that fell back for numbers of rows alone is (decision 62).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from undercover.engines.joining import joined
from undercover.engines.local import LocalEngine
from undercover.errors import UnreachableError
from undercover.model.figures import counted
from undercover.model.protocols import Deciding, Engine, Method, OnParts, Progress, fits, no_progress
from undercover.model.run import Draft
from undercover.model.table import Table
from undercover.randomness import Randomness


@dataclass(frozen=True)
class OnOnePart:
    """What is done with a part, wherever it lies: plain data, and the same rows for the same part whenever asked."""

    method: Method
    randomness: Randomness
    threads: int
    progress: Progress = field(default=no_progress, compare=False)

    def __call__(self, part: Table) -> Draft:
        """Anonymise a part, or the whole table where it is the only one."""
        words = self.randomness if part.part is None else self.randomness.part(part.part.number)
        engine = LocalEngine(threads=self.threads)
        return self.method.anonymize(part, engine=engine, randomness=words, progress=self.progress)


def anonymized(
    method: Method, table: Table, *, engine: Engine, randomness: Randomness, progress: Progress = no_progress
) -> Draft:
    """What ``method`` makes of ``table`` on ``engine``, in as many parts as that has and the table allows."""
    wanted, refused, by_values = engine.parts, 0, False
    plan = planned(method, table, engine, progress) if wanted > 1 else None
    while plan is not None and wanted > 1:
        work = OnOnePart(plan.method, randomness, engine.threads, progress)
        try:
            made = engine.map_parts(table, work, parts=wanted, together=plan.together)
        except UnreachableError as error:
            refused, by_values, wanted = refused + 1, by_values or error.by_values, wanted // 2
            continue
        if len(made) == 1:
            break
        draft = replace(joined(made, table.n_rows), **plan.settled)
        noted = {"asked": engine.parts, "made": len(made), "refused": refused}
        return _noted(draft, noted, by_values, {"parts": len(made)})
    draft = method.anonymize(table, engine=engine, randomness=randomness, progress=progress)
    return draft if engine.parts == 1 else _noted(draft, _whole(engine, refused), by_values, {})


def planned(method: Method, table: Table, engine: Engine, progress: Progress = no_progress) -> OnParts | None:
    """How a method is run on parts of a table; ``None`` where it must see the whole."""
    return method.on_parts(table, engine=engine, progress=progress) if fits(method, Deciding) else OnParts(method)


def _whole(engine: Engine, refused: int) -> dict[str, Any]:
    return {"asked": engine.parts, "made": 1, "refused": refused}


def _noted(draft: Draft, noted: dict[str, Any], by_values: bool, used: dict[str, Any]) -> Draft:
    """The draft with how it was divided: the number of parts for everybody, what was refused for the holder."""
    warnings = list(draft.warnings)
    if noted["made"] < noted["asked"]:
        why = f"{counted(noted['refused'], 'cut')} left a part on which the promise cannot be kept"
        if not noted["refused"]:
            why = "the table cannot be cut into more, or the method must see all of it"
        told = ""
        if by_values:
            told = " Who sees how many there are learns something of sensitive values, so it is not algorithm-safe."
        warnings.append(f"{counted(noted['made'], 'part')} in place of {noted['asked']}: {why}.{told}")
    return replace(
        draft,
        diagnostics={**draft.diagnostics, "parts": noted},
        used={**draft.used, **used},
        warnings=tuple(warnings),
        safe=draft.safe and not by_values,
    )
