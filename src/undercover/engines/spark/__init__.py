"""The Spark engine: the same methods on tables that one machine cannot hold."""

from typing import Any


def is_frame(data: Any) -> bool:
    """Whether something is a DataFrame of Spark; asks nothing of a pyspark that nobody has imported.

    >>> is_frame("people.parquet")
    False
    """
    kind = type(data)
    return kind.__name__ == "DataFrame" and kind.__module__.startswith("pyspark.sql")
