"""A release of perturbed generalization as boxes with corrected counts: what COUNT estimates are computed from.

A row of G people that shows the value y stands for G ([y = v] - (1 - p) / \\|U\\|) / p people of every value v of the
domain U (Tao, Xiao, Li & Zhang, equation 11, inverted as in :mod:`undercover.forms.perturbed.counts`). The second
part is the same for all values, so it is kept apart, once for each box, and the estimate of a query is the sum of both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from undercover.errors import NotTold
from undercover.forms.meaning import Values
from undercover.forms.spread import Spread

if TYPE_CHECKING:
    from undercover.forms.perturbed.reading import PerturbedReading


def corrected_spreads(
    reading: PerturbedReading, values: Mapping[str, Values], sensitive: str, labels: Sequence[str]
) -> tuple[Spread, Spread]:
    """The boxes of a release with the values seen, and with what is taken off every value alike.

    Parameters
    ----------
    reading
        Of a table whose rows stand for several people.
    values
        The domain of each column to read.
    sensitive, labels
        The sensitive column, and the values whose counts are asked for, in order; others of the domain may be seen.

    Returns
    -------
    A spread over the values, and one of a single value that stands for every one of them; its weights are negative.

    Examples
    --------
    >>> import undercover as uc
    >>> from undercover.forms import read
    >>> people, schema = uc.datasets.census(1000, seed=1), uc.datasets.census_schema(["age", "sex"])
    >>> run = uc.publish(people, schema, uc.PerturbedGeneralization(k=6, p=0.5), seed=1)
    >>> domain = [str(value) for value in range(50)]
    >>> seen, evenly = corrected_spreads(read(run.release), {}, "income", domain)
    >>> round(seen.pair_weight.sum() + len(domain) * evenly.pair_weight.sum())
    1000
    """
    noise = reading.channel
    if not noise.p:
        raise NotTold("p = 0: no value was kept, so nothing can be estimated of them.")
    columns = {name: reading.column(name) for name in values}
    coverage = {name: reading.coverage(name, values[name]) for name in values}
    cells = {name: column.codes for name, column in columns.items()}
    people = reading.people.astype(np.float64)
    shown = reading.column(sensitive)
    place = {label: code for code, label in enumerate(labels)}
    codes = np.array([place.get(label, -1) for label in shown.labels], dtype=np.int64)[shown.codes]
    boxes = np.flatnonzero(codes >= 0)
    p, u = float(noise.p), float(noise.u)
    return (
        Spread.of_pairs(coverage, cells, (boxes, codes[boxes], people[boxes] / p), len(labels)),
        Spread.of_pairs(coverage, cells, (np.arange(len(people)), np.zeros(len(people), int), -people * u / p), 1),
    )
