"""What several published tables say together: combinations of classes, their figures, and how they are shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import pyarrow as pa

from undercover.attacks.joint.correlation import CorrelationResult
from undercover.model import figures
from undercover.model.published import Published
from undercover.model.view import Figure, Part, View, Viewable, certainty, listed, say, table

STORY = (
    "The attacker has every one of these tables and knows the quasi-identifiers of a person who is in all of them. He "
    "finds the person's class in each and keeps the sensitive values that all of the classes have."
)
_SHOWN = 5  # of the worst combinations

ONE_LEFT = (
    "1 is what nearly all real tables leave him: among all ways in which people may be spread over the classes there "
    "is one in which he is certain of somebody. It does not say that he is certain of anybody here. Whoever holds the "
    "people sees that with their original: `joint-risk --overlap`, in Python `joint_attack`."
)


@dataclass(frozen=True)
class Combination:
    """One class of every table, and what it says of whoever is in all of them."""

    cells: tuple[Mapping[str, str], ...]  # of the class in each table
    probabilities: Mapping[str, Fraction]  # of the values that are left
    counts: tuple[tuple[int, ...], ...] = field(repr=False)  # per table the rows of each value

    @property
    def l(self) -> int:  # noqa: E743
        """How many values are left."""
        return len(self.probabilities)

    @property
    def highest(self) -> Fraction:
        """The probability of the likeliest value; 0 where none is left."""
        return max(self.probabilities.values(), default=Fraction(0))

    def to_dict(self) -> dict[str, Any]:
        """Figures for reports."""
        return {
            "cells": [dict(cells) for cells in self.cells],
            "l": self.l,
            "highest": float(self.highest),
            "probabilities": {label: float(share) for label, share in self.probabilities.items()},
        }


@dataclass(frozen=True)
class JointRisk(Viewable):
    """What several published tables say together; a probabilistic table, worst combinations first.

    ``l`` is exact for somebody who knows one person. Where there are too many combinations to go through one by one
    (``exhaustive`` is false), the highest probability is the highest of those looked at. ``possible_l`` holds for
    somebody who knows everybody's quasi-identifiers: at least so many values stay possible, however people are spread
    over the combinations. Another table or column never raises it; it is 1 where that was too much work
    (``possible_through`` is false).
    """

    tables: tuple[Published, ...]
    values: tuple[str, ...]
    totals: tuple[int, ...]
    l: int  # noqa: E741
    max_probability: Fraction
    possible_l: int
    possible_through: bool
    alone: tuple[int, ...]  # l of every table by itself
    alone_probability: tuple[float, ...]
    baseline: float  # guessing the most frequent value
    combinations: int
    impossible: int | None
    worst: tuple[Combination, ...]
    surest: Combination
    exhaustive: bool
    correlation: tuple[CorrelationResult | None, ...] = ()
    notes: tuple[str, ...] = ()  # which columns were taken for one, and which may be
    story: str = field(default=STORY, repr=False)

    def table(self) -> pa.Table:
        """The probabilistic table (the paper's Table 7) of the worst combinations: a row per value that is left."""
        rows: list[dict[str, Any]] = []
        for combination in self.worst:
            cells = {name: cell for part in combination.cells for name, cell in part.items()}
            rows += [
                {**cells, self.tables[0].column: label, "probability": float(combination.probabilities.get(label, 0))}
                for label in self.values
            ]
        return pa.Table.from_pylist(rows)

    def to_dict(self) -> dict[str, Any]:
        """Figures for reports; all of it follows from published tables."""
        return {
            "attack": "joint-release",
            "story": self.story,
            "tables": [
                {
                    "name": table.name,
                    "quasi_identifiers": list(table.quasi_identifiers),
                    "classes": table.n_classes,
                    "rows": table.rows,
                    "suppressed_rows": table.suppressed,
                    "l": own,
                    "max_probability": sure,
                }
                for table, own, sure in zip(self.tables, self.alone, self.alone_probability, strict=True)
            ],
            "sensitive": self.tables[0].column,
            "values": len(self.values),
            "l": self.l,
            "max_probability": float(self.max_probability),
            "possible_l": self.possible_l,
            "possible_through": self.possible_through,
            "baseline": self.baseline,
            "combinations": self.combinations,
            "impossible_combinations": self.impossible,
            "exhaustive": self.exhaustive,
            "columns": list(self.notes),
            "surest": self.surest.to_dict(),
            "worst": [
                combination.to_dict()
                | ({"correlation": None if found is None else found.to_dict()} if self.correlation else {})
                for combination, found in zip(self.worst, self.correlation or (None,) * len(self.worst), strict=True)
            ],
        }

    def view(self) -> View:
        """What tables say together, beside each of them alone."""
        found = self.to_dict()
        surest = Figure(found["max_probability"], "risk")
        surest = surest if found["exhaustive"] else replace(surest, text=f"at least {surest.shown}")
        rows: list[Any] = [
            (
                f"`{entry['name']}`",
                listed(entry["quasi_identifiers"]),
                entry["classes"],
                entry["l"],
                entry["max_probability"],
            )
            for entry in found["tables"]
        ]
        rows.append(("together", None, found["combinations"], found["l"], surest))
        rows.append(("guessing", None, None, found["values"], Figure(found["baseline"], "baseline")))
        columns = ("table", "known", "classes", f"values of `{found['sensitive']}` left", "surest")
        worst = [
            (*map(_cells, entry.cells), entry.l, _shares(entry.probabilities), *self._known_size(place))
            for place, entry in enumerate(self.worst[:_SHOWN])
        ]
        headings = [*(f"`{entry.name}`" for entry in self.tables), "left", "probabilities"]
        if self.correlation:
            headings.append(f"with {self.correlation[0].size if self.correlation[0] else '?'} people")
        parts: list[Part] = [
            table(columns, "plain plain count count risk", rows),
            table(headings, "plain " * len(headings), worst, "Worst combinations of classes", detail=1),
            "All combinations count, also those nobody is in: no holder can know which.",
        ]
        if found["impossible_combinations"]:
            text = "{count} combinations have no value in common: nobody can be in them."
            parts.append(say(text, found["impossible_combinations"]))
        text = "Values that stay possible for somebody who knows everybody's quasi-identifiers: at least {count}"
        through = "." if found["possible_through"] else "; more would be too much to go through."
        parts.append(say(text + through, found["possible_l"]))
        if found["possible_l"] == 1 < found["l"]:
            parts.append(ONE_LEFT)
        if len(self.tables) > 2:
            parts.append(
                "That is a lower bound: where more than two tables tell two values apart, one counts as possible in "
                "place of the other only if every class has as many rows of both."
            )
        if not found["exhaustive"]:
            parts.append("Too many combinations to go through: l is exact, the surest value at least what is shown.")
        parts += found["columns"]
        following = "`.worst` lists the combinations, `.table()` shows them."
        verdict = certainty(found["max_probability"])
        return View("joint-release", "Tables together", tuple(parts), *verdict, found["story"], following)

    def _known_size(self, place: int) -> tuple[str, ...]:
        """The shares of one of the worst combinations, where it is known how many people it has."""
        if not self.correlation:
            return ()
        known = self.correlation[place]
        if known is None:
            return ("impossible",)
        shares = zip(self.values, known.by_instances, strict=True)
        return (_shares({label: share for label, share in shares if share}),)

    def __repr__(self) -> str:
        return (
            f"<JointRisk of {len(self.tables)} tables: l={self.l}, up to {float(self.max_probability):.3f} sure; "
            ".worst lists the combinations, .table() shows them>"
        )


def _cells(cells: Mapping[str, str]) -> str:
    return ", ".join(f"{name} = {cell}" for name, cell in cells.items()) or "(nothing known)"


def _shares(probabilities: Mapping[str, Fraction], most: int = 3) -> str:
    """The likeliest values with their probability, as a fraction where that is a short one."""
    ranked = sorted(probabilities.items(), key=lambda entry: (-entry[1], entry[0]))
    shown = [
        f"{label} {share if share.denominator <= 100 else figures.risk(float(share))}" for label, share in ranked[:most]
    ]
    return ", ".join(shown) + (f" and {len(ranked) - most} more" if len(ranked) > most else "") or "impossible"
