"""What it does to counts that one row is published for several people: they are weighed, and less exact.

Of a cell of G people one is drawn, and the value seen is kept with p, else drawn from a domain of m values. If a share
s of the people have a value, spread over cells by chance, the row of a cell shows it with q = p s + (1 - p) / m, and
its estimate G (seen - (1 - p) / m) / p (:mod:`undercover.forms.answers.channel`) has the variance
(G / p)² (q (1 - q) - p² s (1 - s) / G). Were everybody's row published, every G would be 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercover.model.channel import Channel
from undercover.model.view import Said, say

SHARE = 0.1  # of the people, who have the value that is asked about


def sampling_of(people: NDArray[np.int64], channel: Channel, column: str) -> dict[str, Any]:
    """How many rows stand for how many people, and one standard error of a count of a tenth of them.

    ``error`` is that of the rows there are, ``error_of_all`` that of everybody's; ``None`` where no value was kept.

    >>> found = sampling_of(np.full(1000, 4), Channel(1, ("a", "b")), "G")
    >>> found["published"], found["people"], round(found["error"]), found["error_of_all"]
    (1000, 4000, 33, 0.0)
    """
    everybody = int(people.sum())
    return {
        "published": len(people),
        "people": everybody,
        "column": column,
        "asked": round(SHARE * everybody),
        "error": _error(float(np.square(people.astype(np.float64)).sum()), everybody, channel),
        "error_of_all": _error(everybody, everybody, channel),
    }


def _error(squares: float, people: int, channel: Channel) -> float | None:
    """The root of the variances of all cells: ``squares`` are their sizes squared, ``people`` their sizes, added up."""
    p = float(channel.p)
    if not p:
        return None
    seen = p * SHARE + (1 - p) / channel.size
    return math.sqrt(max(0.0, squares * seen * (1 - seen) / p**2 - people * SHARE * (1 - SHARE)))


def sampling_words(found: Mapping[str, Any]) -> list[Said]:
    """The same in sentences, for holder and recipient."""
    weighed = f"A row stands for as many people as `{found['column']}` says: add that up, and do not count rows."
    are = "is" if found["published"] == 1 else "are"
    said = [say(f"{{count}} of {{count}} rows {are} published. {weighed}", found["published"], found["people"])]
    if found["error"] is None:
        return [*said, say("No sensitive value was kept, so none can be counted.")]
    asked = "person" if found["asked"] == 1 else "people"
    off = f"A value that one in ten has ({{count}} {asked}) is then counted with an error of about {{cost}} people "
    beside = "(one standard error); were everybody's row published, it would be {cost}."
    return [*said, say(off + beside, *(found[key] for key in ("asked", "error", "error_of_all")))]
