"""Discernibility and average class size: what a release costs by the sizes of its classes alone.

Bayardo & Agrawal 2005 for the discernibility metric: every row is charged the number of rows it cannot be told from;
a suppressed row is charged the whole table. LeFevre, DeWitt & Ramakrishnan 2006 for the normalised average class size.
Liu & Wang, "Privacy Streamliner", Section 4, show the metric beside its optimum: the least that any grouping into
classes of at least l rows can cost.

Deviation: in a release of two tables the buckets count as classes where quasi-identifiers are published as they are
(Anatomy); where they are generalised (cross-bucket), the rows that are written alike do.
"""

from __future__ import annotations

import math

import numpy as np

from undercover import plugins
from undercover.errors import ParameterError
from undercover.exact import checked, exact
from undercover.forms import read
from undercover.forms.case import Case
from undercover.forms.classes import Classes
from undercover.model.release import Release


def discernibility(source: Classes | Release) -> int:
    """Sum of the squared class sizes, and the whole table for every suppressed row."""
    classes = _classes(source)
    squared = int(np.dot(classes.sizes, classes.sizes))
    return squared + classes.suppressed * (classes.rows + classes.suppressed)


def by_groups(case: Case) -> int | None:
    """The same with the groups of the run as classes, where several were published with the same cells; else ``None``.

    Whoever reads the release cannot tell such groups apart; whoever made it formed them, and papers count them.
    """
    charged = case.reading.charged
    if case.run is None or charged is None or charged.count == case.run.groups.count:
        return None
    sizes = case.run.groups.sizes.astype(np.int64)
    return int(np.dot(sizes, sizes)) + charged.suppressed * (charged.rows + charged.suppressed)


def optimal_discernibility(n: int, l: int) -> int:  # noqa: E741
    """The least discernibility of any grouping of ``n`` rows into classes of at least ``l``.

    There are at most g = n // l classes, and the sum of squares is least with g of them, as equal as can be: with
    (q, r) = divmod(n, g) it is (g - r) q² + r (q + 1)².
    """
    for name, value, least in (("l", l, 1), ("n", n, l)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise ParameterError(
                f"The '{name}' parameter of optimal_discernibility must be an int in [{least}, inf). "
                f"Got {value!r} instead."
            )
    classes = n // l
    size, larger = divmod(n, classes)
    return (classes - larger) * size**2 + larger * (size + 1) ** 2


def smallest_class(release: Release) -> int | None:
    """The rows every class must have for what a release promises: k, or l rounded up; ``None`` where neither is said.

    A class in which no value is more than 1/l of the rows has at least l of them; so has one of l different values, one
    of the entropy of l values, and a recursively l-diverse one.
    """
    sizes = []
    for entry in release.guarantees:
        name = str(entry.get("name"))
        known = name in plugins.names("guarantees")
        parameter = getattr(plugins.load("guarantees", name), "least_rows", None) if known else None
        if parameter is not None and parameter in entry:
            sizes.append(math.ceil(exact(checked(name, parameter, entry[parameter], "a number"))))
    return max(sizes, default=None)


def average_class_size(source: Classes | Release, k: int | None = None) -> float:
    """Rows per class; with ``k`` the normalised form that is 1 where every class has exactly k rows."""
    if k is not None and k < 1:
        raise ParameterError(f"The 'k' parameter of average_class_size must be an int in [1, inf). Got {k!r} instead.")
    classes = _classes(source)
    if not classes.count:
        return 0.0
    return classes.rows / classes.count / (k or 1)


def _classes(source: Classes | Release) -> Classes:
    if not isinstance(source, Release):
        return source
    charged = read(source).charged
    if charged is None:
        raise ParameterError("Nothing is generalised in this release, so there are no classes to count.")
    return charged
