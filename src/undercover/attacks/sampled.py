"""Looking for some of the people in a whole release, where looking for everybody would take too long.

Three things together say what everybody's figures would: a random sample gives means and shares, with 95% intervals;
the people whose own class gives away most are looked for besides, since the worst off are few and chance would miss
them; and a bound that holds for everybody without looking (:class:`undercover.forms.disclosure.AtMost`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercover.forms.case import Case
from undercover.forms.disclosure import AtMost, Disclosure
from undercover.model.groups import number
from undercover.model.table import Table
from undercover.model.verdict import Exposure

EVERYBODY = 500_000  # rows up to which everybody is looked for
SAMPLE = 50_000  # people looked for where there are more
WORST_OFF = 5_000  # people looked for besides, since their own class gives away most

Rows = NDArray[np.int64]


def drawn_people(original: Table, most: int | None) -> Rows | None:
    """Rows of a random sample, the same ones every time so that a figure can be had again; ``None``: everybody."""
    if original.units is not None or original.n_rows <= (EVERYBODY if most is None else most):
        return None
    drawn = np.random.default_rng(0).choice(original.n_rows, most or SAMPLE, replace=False, shuffle=False)
    return np.sort(drawn).astype(np.int64)


def most_given_away(case: Case) -> Rows:
    """The rows in whose own class the true value has the largest share, then those in the smallest classes."""
    original, run = case.original, case.run
    if run is None or not case.reading.covers:
        return np.empty(0, np.int64)
    label = np.asarray(run.groups.labels if run.buckets is None else run.buckets, dtype=np.int64)
    inside, sizes = np.searchsorted(original.rows, run.rows), np.bincount(label)
    sure = 1 / sizes[label] * 1e-6  # decides among those of whose value he is as sure
    for name in original.schema.sensitive:
        key, count = number(label * original[name].domain.size + original[name].codes[inside])
        sure = np.maximum(sure, np.bincount(key, minlength=count)[key] / sizes[label] + 1e-6 / sizes[label])
    most = min(WORST_OFF, len(sure))
    return np.sort(inside[np.argpartition(-sure, most - 1)[:most]])


@dataclass(frozen=True)
class Sampled:
    """Whom a sample stands for, what was reached on the worst off, and what on nobody is reached more than."""

    of: int
    rows: Rows  # input rows of the people whose own class gives away most
    worst: Disclosure
    at_most: AtMost

    def to_dict(self) -> dict[str, Any]:
        """How many people the sample stands for, and how many were looked for besides."""
        return {"of": self.of, "worst_off": len(self.rows)}

    def note(self, found: Mapping[str, Any]) -> None:
        """Write into the figures of a sample what the worst off and the bound add to them."""
        entries = {"identity": (found["identity"], self.worst.identity, self.at_most.found)}
        for name, entry in found["attribute"].items():
            entries[name] = entry, self.worst.attribute[name], self.at_most.belief.get(name)
        for entry, worst, bound in entries.values():
            entry["max"] = max(entry["max"], float(worst.max(initial=0.0)))
            if bound is not None:
                entry["at_most"] = bound

    def with_worst(self, rows: Rows, found: Disclosure) -> tuple[Rows, Disclosure]:
        """Everybody who was looked for, each once."""
        both, first = np.unique(np.concatenate([rows, self.rows]), return_index=True)

        def joined(one: NDArray[Any], other: NDArray[Any]) -> NDArray[Any]:
            return np.concatenate([one, other])[first]

        names = found.attribute
        return both, Disclosure(
            joined(found.matches, self.worst.matches),
            {name: joined(found.attribute[name], self.worst.attribute[name]) for name in names},
            {name: joined(found.hits[name], self.worst.hits[name]) for name in names},
            joined(found.identity, self.worst.identity),
        )

    def exposures(self, attack: str, rows: Rows, found: Disclosure) -> tuple[Exposure, ...]:
        """What was reached on the sample, which stands for everybody, and on the worst off, who stand for nobody else.

        Who was drawn and is among the worst off is counted with the sample.
        """
        return (
            Exposure(
                attack,
                rows,
                found.identity,
                found.attribute,
                of=self.of,
                found_at_most=self.at_most.found,
                belief_at_most=self.at_most.belief,
            ),
            Exposure(attack, self.rows, self.worst.identity, self.worst.attribute),
        )
