"""What a holder of everybody's tables would see: the join that nobody else can make, as a reference.

Cheong, Wu & Wong 2012, "Non-centralized distinct l-diversity", Section 1, Tables 3 and 4. Whoever holds all originals
knows which combinations of classes people are really in. The table published of all attributes together shows just the
values of these people; the join of published tables shows the intersections. The difference is what the adversary
does not know, and the people whose intersection has a single value are the ones he is certain of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercover.errors import DataError
from undercover.model.view import View, Viewable, certainty, facts, say, table

STORY = (
    "The holder of all originals joins the releases by person. Of every combination of groups that somebody is in he "
    "sees whose values they are: what one table of all columns would show. Who joins published tables does not know "
    "which combinations people are in, and is left with the values their groups have in common."
)


@dataclass(frozen=True)
class CentralizedJoin(Viewable):
    """The combinations people are really in. Private: a reference for whoever holds all originals."""

    people: int
    combinations: int
    l: int  # noqa: E741
    max_probability: float  # share of the most frequent value in a combination, at most
    given_away: int  # people whose classes have a single value in common
    left: Mapping[int, int]  # people by how many values their classes have in common

    def to_dict(self) -> dict[str, Any]:
        """Figures for the holder of all tables; private."""
        return {
            "attack": "centralized-join",
            "story": STORY,
            "people": self.people,
            "combinations": self.combinations,
            "l": self.l,
            "max_probability": self.max_probability,
            "given_away": self.given_away,
            "left": {str(values): people for values, people in self.left.items()},
        }

    def view(self) -> View:
        """The join by person, and what the groups have in common."""
        found = self.to_dict()
        counted = facts(
            ("people", found["people"]),
            ("combinations of groups with somebody in them", found["combinations"]),
            ("values in such a combination, at least", found["l"]),
        )
        parts = (
            counted,
            say("One table of all columns would make {risk} sure at worst.", found["max_probability"]),
            say("{count} people have groups with a single value in common.", found["given_away"]),
            table(("values in common", "people"), "plain count", list(found["left"].items()), detail=2),
        )
        verdict = certainty(1.0 if found["given_away"] else 0.0)
        return View("centralized-join", "Joined by person", parts, *verdict, STORY, private=True)


def centralized_join(classes: Sequence[NDArray[np.integer]], values: NDArray[np.integer]) -> CentralizedJoin:
    """Join by person.

    ``classes`` are per table (n_people,) the class of every person, ``values`` (n_people,) the sensitive value,
    numbered from 0.
    """
    n, n_values = len(values), int(values.max()) + 1
    if any(len(labels) != n for labels in classes):
        raise DataError("Every table needs the class of every person: the numbers of people differ.")
    key = np.zeros(n, dtype=np.int64)
    common = np.ones((n, n_values), dtype=bool)
    for labels in classes:
        tally = _tally(labels, values, n_values)
        common &= (tally > 0)[labels]
        key = key * len(tally) + labels
    together = _tally(np.unique(key, return_inverse=True)[1].reshape(-1), values, n_values)
    left, people = np.unique(common.sum(axis=1), return_counts=True)
    spread = dict(zip(left.tolist(), people.tolist(), strict=True))
    return CentralizedJoin(
        people=n,
        combinations=len(together),
        l=int((together > 0).sum(axis=1).min()),
        max_probability=float((together.max(axis=1) / together.sum(axis=1)).max()),
        given_away=spread.get(1, 0),
        left=spread,
    )


def _tally(labels: NDArray[np.integer], values: NDArray[np.integer], n_values: int) -> NDArray[np.int64]:
    """(n_classes, n_values) people of each value in each class."""
    tally = np.zeros((int(labels.max()) + 1, n_values), dtype=np.int64)
    np.add.at(tally, (labels, values), 1)
    return tally
