"""Cells whose values went through a channel, and the people in them, as the corrupting attacker sees them.

Tao, Xiao, Li & Zhang, "On Anti-Corruption Privacy Preserving Publication", Section V: whose row a published one is, and
what is then believed of a victim, for everybody at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from undercover.errors import DataError, ParameterError
from undercover.forms.boxes import match
from undercover.forms.disclosure import distinct_rows
from undercover.forms.meaning import domain_values
from undercover.forms.reading import Reading
from undercover.guarantees.breach.bounds import Bound, growth_bound
from undercover.model.channel import Channel
from undercover.model.table import Table

PriorName = Literal["uniform", "overall", "worst"]
NO_CHANNEL = "The values of this release did not go through a public channel: they are true, or nobody says how drawn."
Array = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class CellView:
    """The release as the attacker sees it, and the people in it."""

    noise: Channel
    cell: Array  # (n_rows,) cell of each person
    own: Array  # (n_rows,) true value, by position in the domain
    seen: Array  # (n_cells,) published value
    sizes: Array  # (n_cells,) G
    counted: int  # people of a cell the promise counts: those of the smallest, or 1 where labels drove the cut
    overall: Floats  # (n_values,) shares of the values in the table

    @classmethod
    def of(cls, original: Table, reading: Reading, threads: int, *, whole: bool = True) -> CellView:
        """Everybody in the one cell that covers the person; an error where there is none, or several.

        Where it is not the ``whole`` table, it has all people of some of the cells.
        """
        noise, table, sizes = reading.channel, reading.main, reading.people
        if noise is None or sizes is None:
            raise ParameterError(NO_CHANNEL)
        (sensitive,) = table.names("sensitive")
        names = table.names("quasi-identifier")
        person, targets = distinct_rows(np.stack([original[n].codes for n in names], axis=1).astype(np.int64))
        offsets, members = match(reading.boxes(names, original), targets, threads)
        if (np.diff(offsets) != 1).any():
            raise DataError("Some person lies in no cell of the release, or in several: is this the original table?")
        labels = original[sensitive].domain.labels
        strange = [label for label in labels if label not in noise.code]
        if strange:
            raise DataError(f"`{strange[0]}` is not in the declared domain: is this the original table?")
        own = np.array([noise.code[label] for label in labels], dtype=np.int64)[original[sensitive].codes]
        cell = members[person]
        people = np.bincount(cell, minlength=len(sizes))
        if ((people != sizes) & ((people > 0) | whole)).any():
            raise DataError("Cells have another number of people than G says: is this the original table?")
        counted = 1 if reading.release.parameters.get("labels") == "driven" else int(sizes.min())
        overall = np.bincount(own, minlength=noise.size) / len(own)
        return cls(noise, cell, own, reading.seen, sizes, counted, overall)

    def attacked(self, prior: PriorName, corrupted: NDArray[np.bool_], skew: float, bound: Bound) -> dict[str, Any]:
        """What is believed of everybody with this prior."""
        p, u = float(self.noise.p), float(self.noise.u)
        size = self.noise.size
        seen = self.seen[self.cell]
        everywhere = self._prior(prior)
        if prior == "worst":
            weight = _worst_weight(p, u, self.counted, skew, size)
            on_seen, on_own = np.full(len(seen), weight), np.where(self.own == seen, weight, (1 - weight) / (size - 1))
            largest, of_others = max(weight, (1 - weight) / (size - 1)), np.zeros(len(seen))
        else:
            on_seen, on_own = everywhere[seen], everywhere[self.own]
            largest, of_others = float(everywhere.max()), everywhere[seen]
        known, alike = self._corrupted(corrupted)
        left = self.sizes[self.cell] - 1 - known
        others = known * u + p * alike + left * (p * of_others + u)
        ownership, kept, confidence = self._believed(on_seen, on_own, others)
        growth = kept * on_seen * (u + p) - ownership * on_seen
        return {
            "growth": {"mean": float(growth.mean()), "max": float(growth.max())},
            "bound": growth_bound(
                p=self.noise.p, k=self.counted, domain=size, skew=max(largest, 1 / size), bound=bound
            ),
            "ownership": {"mean": float(ownership.mean()), "max": float(ownership.max())},
            "confidence": {"mean": float(confidence.mean()), "max": float(confidence.max())},
            "baseline": {"mean": float(on_own.mean()), "max": float(on_own.max())},
            "certain_rows": int((confidence > 1 - 1e-12).sum()),
        }

    def one_known(self) -> Floats:
        """What is believed of everybody's true value, overall shares the prior, where one other's value is known.

        That is somebody of the cell who does not have the value seen, where there is one: he makes it the victim's.
        """
        p, u, size = float(self.noise.p), float(self.noise.u), self.sizes[self.cell]
        overall = self._prior("overall")
        on_seen, on_own = overall[self.seen[self.cell]], overall[self.own]
        _, alike = self._corrupted(np.ones(len(size), dtype=bool))
        known = np.minimum(size - 1, 1)
        all_alike = (alike == size - 1) & (known > 0)
        others = known * u + p * all_alike + (size - 1 - known) * (p * on_seen + u)
        return self._believed(on_seen, on_own, others)[2]

    def one_known_at_most(self) -> float:
        """What of nobody's value is believed more, whoever is in a cell: of the smallest cell that shows each value."""
        p, u, overall = float(self.noise.p), float(self.noise.u), self._prior("overall")
        smallest = np.full(self.noise.size, np.inf)
        np.minimum.at(smallest, self.seen, self.sizes)
        most = 0.0
        for seen in np.flatnonzero(np.isfinite(smallest)):
            owned, known = p * overall[seen] + u, min(smallest[seen] - 1, 1)
            others = known * u + (smallest[seen] - 1 - known) * owned
            ownership = owned / (owned + others) if owned + others else 0.0
            kept = ownership / owned if owned else 0.0
            told = kept * overall * (u + p * (np.arange(self.noise.size) == seen)) + (1 - ownership) * overall
            most = max(most, float(np.maximum(told, overall).max()))
        return most

    def _believed(self, on_seen: Floats, on_own: Floats, others: Floats) -> tuple[Floats, Floats, Floats]:
        """That the row is the victim's, the same by what it owes to the prior, and the belief in the true value."""
        p, u, seen = float(self.noise.p), float(self.noise.u), self.seen[self.cell]
        owned = p * on_seen + u
        ownership = np.divide(owned, owned + others, out=np.zeros(len(seen)), where=owned + others > 0)
        kept = np.divide(ownership, owned, out=np.zeros(len(seen)), where=owned > 0)
        return ownership, kept, kept * on_own * (u + p * (self.own == seen)) + (1 - ownership) * on_own

    def plain(self, corrupted: NDArray[np.bool_]) -> dict[str, Any]:
        """What is believed of everybody where the cells are published with everybody's true value."""
        known, _ = self._corrupted(corrupted)
        key = self.cell * self.noise.size + self.own
        left = np.bincount(key, minlength=len(self.sizes) * self.noise.size)
        gone = np.bincount(key[corrupted], minlength=len(left))
        remaining = left[key] - gone[key] + corrupted  # the victim himself is not corrupted
        confidence = remaining / (self.sizes[self.cell] - known)
        return {
            "confidence": {"mean": float(confidence.mean()), "max": float(confidence.max())},
            "certain_rows": int((confidence > 1 - 1e-12).sum()),
        }

    def _corrupted(self, corrupted: NDArray[np.bool_]) -> tuple[Array, Array]:
        """For every victim: corrupted people in his cell beside him, and how many of them have the value seen."""
        alike = corrupted & (self.own == self.seen[self.cell])
        known, same = (
            np.bincount(self.cell[which], minlength=len(self.sizes))[self.cell] - which for which in (corrupted, alike)
        )
        return known.astype(np.int64), same.astype(np.int64)

    def _prior(self, name: PriorName) -> Floats:
        if name == "overall":
            return self.overall
        return np.full(self.noise.size, 1 / self.noise.size)


def _worst_weight(p: float, u: float, k: int, skew: float, size: int) -> float:
    """The probability of the value seen at which confidence rises most; the domain must have room for the rest."""
    others = k * u
    best = others / (np.sqrt(others * others + p * others) + others) if others else 1.0
    return float(max(min(skew, best), 1 - (size - 1) * skew)) if size > 1 else 1.0


def in_cell(people: Table, reading: Reading, cell: int) -> NDArray[np.bool_]:
    """Which people have quasi-identifiers that lie in one published cell."""
    table = reading.main
    inside = np.ones(people.n_rows, dtype=bool)
    for name in table.names("quasi-identifier"):
        column = people[name]
        cells = reading.column(name)
        text = cells.labels[cells.codes[cell]]
        meaning = domain_values(column).read(text, table.form(name))
        covered = np.zeros(column.domain.size, dtype=bool)
        covered[list(meaning.members or range(meaning.low, meaning.high + 1))] = True
        inside &= covered[column.codes]
    return inside
