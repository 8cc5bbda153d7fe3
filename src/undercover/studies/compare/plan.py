"""Which releases a comparison makes: every method, with a few values of its main parameter.

A method says these itself (:class:`~undercover.model.about.Sweep`), be it built in or installed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from undercover import plugins
from undercover.errors import ParameterError, unknown
from undercover.model.about import about_of
from undercover.model.table import Table

AS_IN_THE_SPEC = "As in the spec"


@dataclass(frozen=True)
class Planned:
    """One release to be made."""

    method: str
    label: str
    parameter: str
    value: Any
    parameters: Mapping[str, Any]

    @property
    def title(self) -> str:
        """What it is called."""
        return self.label if self.value == "" else f"{self.label}, {self.parameter}={self.value}"


def plan(
    table: Table, methods: Iterable[str] | None = None, *, own: tuple[str, Mapping[str, Any]] | None = None
) -> list[Planned]:
    """The releases to make of a table.

    Values the table does not allow are lowered to the largest it does; where none is allowed, the smallest is kept, so
    that the method itself can say why it cannot run. ``own`` is a further method with its parameters: that of the spec.
    """
    known = plugins.names("methods")
    wanted = known if methods is None else list(methods)
    problems = [unknown("Method", name, known) for name in wanted if name not in known]
    if problems:
        raise ParameterError(problems)
    planned: list[Planned] = []
    for name in (name for name in known if name in wanted):
        for sweep in about_of(name).sweeps:
            limits = _limits(table, distinct=sweep.distinct)
            fixed = {key: _lowered(value, limits.get(key)) for key, value in sweep.fixed.items()}
            values = dict.fromkeys(_lowered(value, limits.get(sweep.parameter)) for value in sweep.values)
            planned += [
                Planned(name, sweep.label, sweep.parameter, value, {**fixed, sweep.parameter: value})
                for value in values
            ]
    if own is not None and own[0] in wanted:
        planned.append(Planned(own[0], AS_IN_THE_SPEC, "", "", dict(own[1])))
    return planned


def without_sweep(methods: Iterable[str]) -> list[str]:
    """Methods for which no sweep is known."""
    return [name for name in methods if not about_of(name).sweeps]


def _limits(table: Table, *, distinct: bool) -> dict[str, int]:
    """The largest k and l that can be reached."""
    limits = {"k": table.n_rows}
    counts = [np.bincount(table[name].codes) for name in table.schema.sensitive]
    if counts:
        limits["l"] = min(int((found > 0).sum() if distinct else table.n_rows // found.max()) for found in counts)
    return limits


def _lowered(value: Any, limit: int | None) -> Any:
    """A whole number kept within its limit, but never below 2."""
    if limit is None or not isinstance(value, int):
        return value
    return min(value, max(2, limit))
