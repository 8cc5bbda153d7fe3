"""The P_match attacker: he matches on each known column with probability P, and not on the others.

Li, Wang & He, "Privacy-Preserving Data Publishing via Mutual Cover", Section 5.1. Where values were drawn at random,
matching on everything is not his best choice: a single changed value makes him miss the person's row. So he matches on
a subset of the columns he knows, each column chosen independently with probability P.

For a subset, M is the set of published rows that fit the person's true values in it. He picks one of them
and so finds the person's own row with probability 1/m, of m rows, if it is among them, else 0; where rows were dealt,
times the probability that it is. He gives the true sensitive value its share in M, or what the law of dealt values
makes of M. Where nothing fits, both are 0. The empty subset fits all rows.

Deviations: the paper draws subsets; here all 2^d are gone through, and as their weight depends on their size alone, one
pass gives every P exactly. A generalised or bucketised row fits if its cells cover the values; there the person's own
row always fits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercover.attacks.partial.alike import Codes
from undercover.attacks.partial.matching import Covering, Equal, OwnRows, Secret
from undercover.errors import ParameterError
from undercover.forms.boxes import boxes_of
from undercover.forms.dealt.rows import Dealt, row_codes
from undercover.forms.reading import Reading
from undercover.model.table import Table
from undercover.wording import option

PAPERS = (0.3, 0.5, 0.7, 0.8, 0.9, 1.0)
"""The values of P in the paper's figures."""

MOST_COLUMNS = 16
ONE_EACH = "The P_match attack is not defined where one row stands for several people."

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Profile:
    """What the attacker achieves on every row, summed over the subsets of each size."""

    identity: Floats  # (n_rows, d + 1)
    matches: Floats
    attribute: Mapping[str, Floats]
    hits: Mapping[str, Floats]

    def at(self, p: float) -> tuple[Floats, Floats, dict[str, Floats], dict[str, Floats]]:
        """Identity, expected matching rows, attribute and right guesses at one P, each (n_rows,)."""
        d = self.identity.shape[1] - 1
        weights = np.array([p**size * (1 - p) ** (d - size) for size in range(d + 1)])
        return (
            self.identity @ weights,
            self.matches @ weights,
            {name: sums @ weights for name, sums in self.attribute.items()},
            {name: sums @ weights for name, sums in self.hits.items()},
        )

    def means(self, p: float) -> dict[str, Any]:
        """The means over all rows at one P, ready for JSON."""
        identity, _, attribute, hits = self.at(p)
        return {
            "p": p,
            "identity": {"mean": float(identity.mean()), "max": float(identity.max())},
            "attribute": {
                name: {
                    "mean": float(values.mean()),
                    "max": float(values.max()),
                    "guess_success": float(hits[name].mean()),
                }
                for name, values in attribute.items()
            },
        }


def profile(
    reading: Reading,
    original: Table,
    known: Sequence[str],
    *,
    own: NDArray[np.int64] | None = None,
    dealt: Dealt | None = None,
    threads: int = 1,
) -> Profile:
    """Go through all subsets of the known columns.

    ``own`` is the published row of every row of ``original``, where values were drawn, and ``dealt`` among which it was
    dealt, where rows were. The result does not depend on the number of threads.
    """
    if not reading.one_each:
        raise ParameterError(ONE_EACH)
    if len(known) > MOST_COLUMNS:
        raise ParameterError(
            f"The P_match attack goes through 2^{len(known)} subsets; it takes at most {MOST_COLUMNS} known columns. "
            f"Name those he knows: {option(known=...)}"
        )
    sensitive = original.schema.sensitive
    boxes = boxes_of(reading, original, known, sensitive)
    people = np.stack([original[name].codes for name in known], axis=1).astype(np.int64)
    sizes = [original[name].domain.size for name in known]
    mine = None
    if dealt is not None:
        mine = OwnRows.of(row_codes(reading, known, original, rows=dealt.published), people, sizes, dealt.groups)
    elif (fits := reading.own_fits(known, original, own)) is not None:
        mine = OwnRows.of(np.where(fits, people, -1), people, sizes, np.arange(original.n_rows))
    secrets = [
        Secret(boxes.buckets(original[name]), original[name].codes.astype(np.int64), boxes.laws.get(name))
        for name in sensitive
    ]
    if boxes.exact is not None:
        sums = Equal(boxes, Codes.of(boxes.exact, people, sizes), mine, secrets).sums(threads)
    else:
        sums = Covering.all_sums(boxes, people, mine, secrets, threads)
    identity, matches, *told = (np.ascontiguousarray(each.T) for each in sums.found)
    return Profile(
        identity, matches, dict(zip(sensitive, told[::2], strict=True)), dict(zip(sensitive, told[1::2], strict=True))
    )
