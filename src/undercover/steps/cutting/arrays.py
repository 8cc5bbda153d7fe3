"""What the cutting kernels take, as tuples of arrays with names; nothing here is compiled."""

from __future__ import annotations

from typing import Any, NamedTuple

RANGE, SET, TREE = range(3)
BY_LOSS, MEDIAN, LOWER_MEDIAN, PAPERS_MEDIAN = range(4)


class Columns(NamedTuple):
    """Columns in cutting codes one behind the other, and the trees of the TREE columns one behind the other.

    The leaves of column j begin at ``leaf_starts[j]``, its nodes at ``node_starts[j]``, and the children of its node i
    are ``children[child_starts[at]:child_starts[at + 1]]`` with at = node_starts[j] + i + j.
    """

    starts: Any  # (d + 1,)
    kinds: Any  # (d,)
    weights: Any  # (d,)
    positions: Any  # by start + code: place on the scale of a RANGE column
    units: Any  # (d,) 1 / (domain size - 1)
    leaf_starts: Any  # (d,)
    node_starts: Any  # (d,)
    first: Any  # (nodes,) leftmost leaf below
    last: Any  # (nodes,) rightmost leaf below
    parent: Any  # (nodes,)
    child_starts: Any
    children: Any
    leaf_node: Any  # (leaves,)


class Checks(NamedTuple):
    """Predicates on sensitive columns; histograms of the columns lie one behind the other from ``column_starts``.

    ``level_codes[level_starts[q]:level_starts[q + 1]]`` holds the hierarchy of predicate q: the parent of each node of
    the level below.
    """

    sensitive: Any  # (rows, columns) codes
    kinds: Any  # (predicates,)
    columns: Any  # (predicates,)
    limits: Any  # (predicates,) l or t
    seconds: Any  # (predicates,) the c of recursive diversity
    column_starts: Any  # (columns + 1,)
    reference: Any  # shares in the whole table
    level_starts: Any
    level_codes: Any


class Task(NamedTuple):
    """How a table is to be cut."""

    columns: Columns
    checks: Checks
    units: Any  # (rows,) the person each row is of; empty where every row is a person
    k: int  # rows of a group at least; of nobody more than one in k of them
    rule: int  # one of BY_LOSS, MEDIAN, LOWER_MEDIAN, PAPERS_MEDIAN
    regions: bool


class Rows(NamedTuple):
    """Rows that are moved while they are cut."""

    codes: Any  # (n, width)
    packed: Any  # the same memory as 64-bit words, to move rows by
    ids: Any  # (n,) row number of each position
    packed_spare: Any  # scratch
    ids_spare: Any  # scratch
