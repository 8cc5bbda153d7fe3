"""Which releases a comparison makes: every method, with a few values of its main parameter.

A new method joins by one line in :data:`SWEEPS`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from undercover import plugins
from undercover.errors import ParameterError, unknown
from undercover.model.table import Table

DISTINCT_L = ("noncentralized",)  # methods whose l counts different values


@dataclass(frozen=True)
class Sweep:
    """One method along one parameter.

    Parameters
    ----------
    method
        Its name.
    label
        What the releases are called on the page.
    parameter, values
        What changes.
    fixed
        What stays.
    """

    method: str
    label: str
    parameter: str
    values: tuple[Any, ...]
    fixed: Mapping[str, Any] = field(default_factory=dict)


SWEEPS = (
    Sweep("mondrian", "Mondrian", "k", (5, 10, 20)),
    Sweep("mondrian", "Mondrian, k=5", "l", (2, 4, 8), {"k": 5}),
    Sweep("incognito", "Incognito", "k", (5, 10, 20)),
    Sweep("anatomy", "Anatomy", "l", (2, 4, 8)),
    Sweep("streamliner", "Streamliner wrap", "l", (2, 4, 8)),
    Sweep("streamliner", "Streamliner guided", "l", (2, 4, 8), {"algorithm": "guided"}),
    Sweep("mutual-cover", "Mutual cover", "delta", ("1/2", "1/5", "1/10"), {"l": 4, "k": 10}),
    Sweep("perturbed-generalization", "Perturbed generalization", "p", (0.15, 0.3, 0.45), {"k": 6}),
    Sweep("cross-bucket", "Cross-bucket, k=5", "l", (2, 4, 8), {"k": 5}),
    Sweep("noncentralized", "Non-centralized", "l", (2, 4, 8)),
)
"""What is run where nothing else is said, in the order of the page."""

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
        """What it is called.

        >>> Planned("mondrian", "Mondrian", "k", 5, {"k": 5}).title
        'Mondrian, k=5'
        """
        return self.label if self.value == "" else f"{self.label}, {self.parameter}={self.value}"


def plan(
    table: Table,
    methods: Iterable[str] | None = None,
    *,
    own: tuple[str, Mapping[str, Any]] | None = None,
    sweeps: Sequence[Sweep] = SWEEPS,
) -> list[Planned]:
    """The releases to make of a table.

    Values the table does not allow are lowered to the largest it does; where none is allowed, the smallest is kept, so
    that the method itself can say why it cannot run.

    Parameters
    ----------
    table
        What bounds k (its rows) and l (the share of the most frequent sensitive value).
    methods
        Only these; all there are by default.
    own
        A further method with its parameters: that of the spec.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from undercover.model.schema import Schema
    >>> people = pa.table({"age": range(9), "ill": ["flu", "cold", "gout"] * 3})
    >>> table = Table.from_arrow(people, Schema(quasi_identifiers=["age"], sensitive="ill"))
    >>> [planned.title for planned in plan(table, ["mondrian", "anatomy"])]
    ['Mondrian, k=5', 'Mondrian, k=9', 'Mondrian, k=5, l=2', 'Mondrian, k=5, l=3', 'Anatomy, l=2', 'Anatomy, l=3']
    """
    known = plugins.names("methods")
    wanted = known if methods is None else list(methods)
    problems = [unknown("Method", name, known) for name in wanted if name not in known]
    if problems:
        raise ParameterError(problems)
    planned: list[Planned] = []
    for sweep in sweeps:
        if sweep.method not in wanted:
            continue
        limits = _limits(table, sweep.method)
        fixed = {name: _lowered(value, limits.get(name)) for name, value in sweep.fixed.items()}
        values = dict.fromkeys(_lowered(value, limits.get(sweep.parameter)) for value in sweep.values)
        planned += [
            Planned(sweep.method, sweep.label, sweep.parameter, value, {**fixed, sweep.parameter: value})
            for value in values
        ]
    if own is not None and own[0] in wanted:
        planned.append(Planned(own[0], AS_IN_THE_SPEC, "", "", dict(own[1])))
    return planned


def without_sweep(methods: Iterable[str], sweeps: Sequence[Sweep] = SWEEPS) -> list[str]:
    """Methods for which no sweep is known.

    >>> without_sweep(["mondrian", "my-own"])
    ['my-own']
    """
    known = {sweep.method for sweep in sweeps}
    return [name for name in methods if name not in known]


def _limits(table: Table, method: str) -> dict[str, int]:
    """The largest k and l that can be reached."""
    limits = {"k": table.n_rows}
    counts = [np.bincount(table[name].codes) for name in table.schema.sensitive]
    if counts:
        distinct = min(int((found > 0).sum()) for found in counts)
        frequent = min(table.n_rows // int(found.max()) for found in counts)
        limits["l"] = distinct if method in DISTINCT_L else frequent
    return limits


def _lowered(value: Any, limit: int | None) -> Any:
    """A whole number kept within its limit, but never below 2."""
    if limit is None or not isinstance(value, int):
        return value
    return min(value, max(2, limit))
