"""Discernibility and average class size: what a release costs by the sizes of its classes alone.

Bayardo & Agrawal 2005 for the discernibility metric: every row is charged the number of rows it cannot be told from;
a suppressed row is charged the whole table. LeFevre, DeWitt & Ramakrishnan 2006 for the normalised average class size.

Deviation: in a release of two tables the buckets count as classes.
"""

from __future__ import annotations

import numpy as np

from undercover.errors import ParameterError
from undercover.guarantees import Classes, classes_of
from undercover.model.release import Release


def discernibility(source: Classes | Release) -> int:
    """Sum of the squared class sizes, and the whole table for every suppressed row.

    >>> import pyarrow as pa
    >>> from undercover.guarantees import classes_of_table
    >>> data = pa.table({"age": ["1", "1", "2", "2", "2", "*"]})
    >>> discernibility(classes_of_table(data, ["age"], suppressed_is_star=True))  # 2·2 + 3·3 + 1·6
    19
    """
    classes = _classes(source)
    squared = int(np.dot(classes.sizes, classes.sizes))
    return squared + classes.suppressed * (classes.rows + classes.suppressed)


def average_class_size(source: Classes | Release, k: int | None = None) -> float:
    """Rows per class; with ``k`` the normalised form that is 1 where every class has exactly k rows.

    >>> import pyarrow as pa
    >>> from undercover.guarantees import classes_of_table
    >>> classes = classes_of_table(pa.table({"age": [1, 1, 1, 2]}), ["age"], suppressed_is_star=True)
    >>> average_class_size(classes), average_class_size(classes, k=2)
    (2.0, 1.0)
    """
    if k is not None and k < 1:
        raise ParameterError(f"The 'k' parameter of average_class_size must be an int in [1, inf). Got {k!r} instead.")
    classes = _classes(source)
    if not classes.count:
        return 0.0
    return classes.rows / classes.count / (k or 1)


def _classes(source: Classes | Release) -> Classes:
    return classes_of(source) if isinstance(source, Release) else source
