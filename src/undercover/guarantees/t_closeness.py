"""t-closeness: the sensitive values of every class are spread almost as in the whole table.

Li, Li & Venkatasubramanian 2007, "t-closeness: privacy beyond k-anonymity and l-diversity", Definition 2 and
Section 4.1. The distance between a class and the table is the earth mover's distance, for one of three grounds:

- ``equal``: all values equally far apart; half the sum of absolute differences.
- ``ordered``: values on a line, 1/(m-1) apart; the mean absolute difference of the cumulative distributions.
- ``hierarchical``: values in a tree, as far apart as their lowest common ancestor is high.

For the tree, the paper adds up cost(N) = height(N)/H · min(pos_extra(N), neg_extra(N)) over the inner nodes. With X_i
the sum of the positive extras of the nodes on level i, the costs of level i add up to i/H · (X_{i-1} - X_i), and the
sum over all levels collapses to (X_0 + ... + X_{H-1}) / H: the mean, over the levels below the root, of the equal
distance between the distributions coarsened to that level. This is what is computed.

All distances are ratios of whole numbers and are compared as such. ``actual`` is the smallest t that holds.

Deviations: the reference is the distribution over all *published* rows. m counts the values that are published, not
those that could have been. A missing value comes last in the order and hangs directly under the root of the tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from undercover.errors import InputError, ParameterError, described, listed
from undercover.exact import compare, exact, plain
from undercover.forms.classes import Classes
from undercover.forms.distribution import Distribution
from undercover.guarantees.checking import Outcome, Promise, assess, conclude, failed, in_blocks, of_column
from undercover.model.beliefs import ROUNDING, BeliefBlock, JointBeliefs, Judgement
from undercover.model.finding import Finding, Sense
from undercover.model.hierarchy import Hierarchy
from undercover.model.protocols import Cover, Short
from undercover.model.schema import Column
from undercover.parameters import Within, check
from undercover.wording import in_column

Distance = Literal["equal", "ordered", "hierarchical"]


@dataclass(frozen=True, kw_only=True)
class TCloseness(Promise):
    """No class is farther than ``t`` from the whole table.

    Parameters
    ----------
    t
        A number in [0, 1].
    distance
        The ground of the earth mover's distance.
    hierarchy
        The tree of the hierarchical distance, or its rows.
    order
        The values in order, for the ordered distance. Without it numbers and dates ascend and texts go by label.
    column
        One sensitive column; ``None`` means each of them.

    Examples
    --------
    >>> from undercover.forms.classes import classes_of_table
    >>> data = pa.table({"age": [1, 1, 2, 2], "salary": [10, 20, 30, 30]})
    >>> classes = classes_of_table(data, ["age"], ["salary"], suppressed_is_star=True)
    >>> TCloseness(t=0.2).check(classes).actual
    0.5
    >>> TCloseness(t="3/8", distance="ordered").check(classes).holds
    True
    """

    name: ClassVar[str] = "t-closeness"
    sense: ClassVar[Sense] = "at most"
    about: ClassVar[frozenset[Cover]] = frozenset({"attribute", "distribution"})
    short: ClassVar[Short] = {
        "t": {"distance": "equal"},
        "ordered-t": {"distance": "ordered"},
        "hierarchical-t": {"distance": "hierarchical"},
    }

    t: Annotated[int | float | Fraction | str, Within(0, 1)]
    distance: Distance = "equal"
    hierarchy: Hierarchy | None = None
    order: tuple[str, ...] | None = None
    column: str | None = None

    def __init__(
        self,
        *,
        t: int | float | Fraction | str,
        distance: Distance = "equal",
        hierarchy: Hierarchy | Iterable[Sequence[str]] | None = None,
        order: Iterable[str] | None = None,
        column: str | None = None,
    ) -> None:
        object.__setattr__(self, "t", t)
        object.__setattr__(self, "distance", distance)
        object.__setattr__(self, "column", column)
        object.__setattr__(self, "order", None if order is None else tuple(str(value) for value in order))
        problems = []
        if (distance == "hierarchical") != (hierarchy is not None):
            problems.append(
                "The 'hierarchy' parameter of TCloseness is needed for distance = \"hierarchical\" and only there. "
                f"Got {hierarchy!r} with distance = {distance!r} instead."
            )
        if self.order is not None and (distance != "ordered" or len(set(self.order)) < len(self.order)):
            problems.append(
                "The 'order' parameter of TCloseness must name each value once, with distance = \"ordered\". "
                f"Got {self.order!r} with distance = {distance!r} instead."
            )
        try:
            tree = hierarchy if isinstance(hierarchy, Hierarchy | None) else Hierarchy(hierarchy)
            object.__setattr__(self, "hierarchy", tree)
        except InputError as error:
            problems += error.problems
        check(self, problems)

    def parameters(self) -> Mapping[str, Any]:
        """What was asked for, as written in a spec; order and tree included, so that a manifest is enough to check."""
        asked: dict[str, Any] = {"t": plain(self.t), "distance": self.distance}
        if self.hierarchy is not None:
            asked["hierarchy"] = [list(row) for row in self.hierarchy.rows]
        if self.order is not None:
            asked["order"] = list(self.order)
        if self.column is not None:
            asked["column"] = self.column
        return asked

    def title(self) -> str:
        """Its name and numbers."""
        return f"{plain(self.t)}-closeness ({self.distance} distance){of_column(self.column)}"

    def meaning(self) -> str:
        """What it means for the people in the table."""
        return (
            "The sensitive values of every class are spread almost as in the whole table: the two distributions are "
            f"at most {plain(self.t)} apart (0: alike, 1: nothing in common)."
        )

    @classmethod
    def completed(cls, entry: Mapping[str, Any], columns: Mapping[str, Column]) -> list[Mapping[str, Any]]:
        """The same requirement with the trees and orders of the schema, one for each column that has them."""
        named = entry.get("column")
        meant = {name: column for name, column in columns.items() if named is None or name == named}
        if entry.get("distance") == "hierarchical" and entry.get("hierarchy") is None:
            lacking = [name for name, column in meant.items() if column.hierarchy is None]
            if lacking or not meant:
                whose = listed(lacking or [named or "the sensitive column"])
                raise ParameterError(
                    f"t-closeness by hierarchical distance needs a hierarchy of {whose}: "
                    f"say {in_column((lacking or [named or 'NAME'])[0], hierarchy='tree.csv')}."
                )
            return [{**entry, "column": name, "hierarchy": column.hierarchy} for name, column in meant.items()]
        if entry.get("distance") == "ordered" and entry.get("order") is None:
            orders = {name: c.domain for name, c in meant.items() if c.kind == "ordinal" or c.bins is not None}
            if orders:
                known = {name: order for name, order in orders.items() if order is not None}
                return [
                    {**entry, "column": name, **({"order": known[name]} if name in known else {})} for name in meant
                ]
        return [entry]

    def is_vacuous(self, classes: Classes) -> bool:
        """No two distributions are more than 1 apart."""
        return exact(self.t) >= 1

    def check(self, classes: Classes) -> Finding:
        """Find the class farthest from the table."""
        outcomes = assess(self.name, classes, self.column, in_blocks(self._outcome))
        return conclude(self, classes, outcomes, required=float(exact(self.t)))

    def holds_jointly(self, beliefs: JointBeliefs) -> bool | None:
        """Whether what all releases tell of everybody is spread almost as in the whole table.

        Between bounds on beliefs the distance lies between those that follow from them.
        """
        if self.column not in (None, beliefs.column) or self.t == 1:
            return True
        known = self.order if self.order is not None else self.hierarchy.leaves if self.hierarchy else None
        there = beliefs.overall > 0
        labels = [label for label, is_there in zip(beliefs.labels, there, strict=True) if is_there]
        if known is not None and set(labels) - set(known) - {""}:
            return None
        levels = self._levels(labels)
        table = beliefs.shares[there]
        limit = float(exact(self.t)) * (max(len(labels) - 1, 1) if self.distance == "ordered" else len(levels))

        def judge(block: BeliefBlock) -> Judgement:
            least, most = block.least[:, there], block.most[:, there]
            nearest = np.zeros(len(least))
            farthest = np.zeros(len(least))
            for sets in levels:
                low = np.maximum(least @ sets, 1 - most @ (1 - sets))  # (n, n_sets) of the belief in each set
                high = np.minimum(most @ sets, 1 - least @ (1 - sets))
                above, below = np.maximum(low - table @ sets, 0), np.maximum(table @ sets - high, 0)
                up, down = np.maximum(high - table @ sets, 0), np.maximum(table @ sets - low, 0)
                if self.distance == "ordered":
                    nearest += (above + below).sum(axis=1)
                    farthest += np.maximum(up, down).sum(axis=1)
                else:  # the sets are disjoint: what is above the shares of the table is what is below them
                    nearest += np.maximum(above.sum(axis=1), below.sum(axis=1))
                    farthest += np.minimum(up.sum(axis=1), down.sum(axis=1))
            return Judgement(farthest <= limit + ROUNDING, nearest > limit + ROUNDING)

        return beliefs.decide(judge)

    def _levels(self, labels: Sequence[str]) -> list[NDArray[np.float64]]:
        """(n_values, n_sets) which values are in which sets whose shares are compared, level by level.

        On a line these are the values up to each; in a tree the values below each node of a level.
        """
        if self.distance == "equal":
            return [np.eye(len(labels))]
        if self.distance == "ordered":
            rank = _rank(labels, self.order)
            return [(rank[:, None] <= np.arange(len(labels) - 1)).astype(np.float64)]
        tree = self.hierarchy
        assert tree is not None
        levels = []
        for level in range(tree.n_levels - 1):
            above = [tree.generalize(label, level) if label in tree.leaf_index else None for label in labels]
            nodes = {node: place for place, node in enumerate(dict.fromkeys(above))}
            sets = np.zeros((len(labels), len(nodes)))
            sets[np.arange(len(labels)), [nodes[node] for node in above]] = 1
            levels.append(sets)
        return levels

    def _outcome(self, column: Distribution) -> Outcome:
        known = self.order if self.order is not None else self.hierarchy.leaves if self.hierarchy else None
        if known is not None:
            gaps = sorted(set(column.labels) - set(known) - {""})
            if gaps:
                which = "order" if self.order is not None else "hierarchy"
                return failed(f"The {which} of `{column.name}` lacks {described(gaps)}.")
        rows = int(column.overall.sum())
        if self.distance == "equal":
            numerators, scale = _moved(column, column.value_index, column.n_values), 1
        elif self.distance == "ordered":
            numerators, scale = _along_line(column, _ranks(column, self.order)), max(column.n_values - 1, 1)
        else:
            numerators, scale = self._over_tree(column)
        # The distance is numerators / (scale · size · rows); the constant factors go to the other side.
        kept = compare(numerators, column.sizes, exact(self.t) * scale * rows) <= 0
        return Outcome(numerators / column.sizes / (scale * rows or 1), kept, column.name)

    def _over_tree(self, column: Distribution) -> tuple[NDArray[Any], int]:
        tree = self.hierarchy
        if tree is None:  # cannot happen: checked on construction
            raise ParameterError("The hierarchical distance needs a hierarchy.")
        height = tree.n_levels - 1
        total: NDArray[Any] = np.zeros(column.n_classes, dtype=_type_for(column, height))
        for level in range(height):
            nodes: dict[str | None, int] = {}
            ancestors = [tree.generalize(label, level) if label in tree.leaf_index else None for label in column.labels]
            node = np.array([nodes.setdefault(ancestor, len(nodes)) for ancestor in ancestors], dtype=np.int64)
            total += _moved(column, node[column.value_index], len(nodes), node)
        return total, height


def _moved(
    column: Distribution, places: NDArray[np.int64], n_places: int, place_of: NDArray[np.int64] | None = None
) -> NDArray[Any]:
    """Size · rows · (mass of the class that lies where the table has less), for values gathered into places."""
    overall = column.overall
    if place_of is not None:
        overall = np.bincount(place_of, overall, minlength=n_places).astype(np.int64)
    keys = column.class_index * n_places + places
    counts = column.counts
    if place_of is not None:
        keys, inverse = np.unique(keys, return_inverse=True)
        counts = np.bincount(inverse, counts).astype(np.int64)
    kind = _type_for(column, 1)
    owner, place = keys // n_places, keys % n_places
    extra = counts.astype(kind) * int(overall.sum()) - overall[place].astype(kind) * column.sizes[owner]
    surplus = np.maximum(extra, 0)
    running = np.concatenate([[0], np.cumsum(surplus)])
    if kind is np.float64:
        return np.bincount(owner, surplus, minlength=column.n_classes)
    starts = np.searchsorted(owner, np.arange(column.n_classes + 1))
    return np.asarray(running[starts[1:]] - running[starts[:-1]])


def _along_line(column: Distribution, rank: NDArray[np.int64]) -> NDArray[Any]:
    """Size · rows · (sum over the values of the difference of the cumulative distributions).

    Between two values that occur in a class its cumulative count stays the same while the table's grows, so each
    such stretch is added up at once: up to ``cut`` the class is ahead, from there on the table.
    """
    m = column.n_values
    table = np.cumsum(column.overall[np.argsort(rank)])
    rows = int(table[-1])
    sums = np.concatenate([[0], np.cumsum(table)])  # of the table's cumulative counts
    order = np.argsort(column.class_index * m + rank[column.value_index], kind="stable")
    owner, place = column.class_index[order], rank[column.value_index][order]
    running = np.cumsum(column.counts[order])
    first = column.starts[:-1]
    ahead = running - (running[first] - column.counts[order][first])[owner]
    end = np.append(place[1:], m)
    end[column.starts[1:] - 1] = m
    size = column.sizes[owner]
    cut = np.clip(np.searchsorted(table, -(-ahead * rows // size)), place, end)
    kind = _type_for(column, m)
    level = ahead.astype(kind) * rows
    stretch: NDArray[Any] = level * ((cut - place) - (end - cut))
    stretch += size.astype(kind) * ((sums[end] - sums[cut]) - (sums[cut] - sums[place]))
    lead = column.sizes.astype(kind) * sums[place[first]]
    if kind is np.float64:
        return np.asarray(lead + np.bincount(owner, stretch, minlength=column.n_classes))
    return np.asarray(lead + column.sums(stretch))


def _ranks(column: Distribution, order: tuple[str, ...] | None) -> NDArray[np.int64]:
    """The place of each value on the line; missing last."""
    if order is not None:
        place = {label: position for position, label in enumerate(order)}
        keys: list[float] = [place.get(label, len(place)) for label in column.labels]
    elif pa.types.is_string(column.values.type) or pa.types.is_large_string(column.values.type):
        try:  # numbers that were read as text are still numbers
            keys = [float(label) if label else np.inf for label in column.labels]
        except ValueError:
            return np.arange(column.n_values)
    else:
        return np.arange(column.n_values)
    rank = np.empty(column.n_values, dtype=np.int64)
    rank[np.argsort(keys, kind="stable")] = np.arange(column.n_values)
    return rank


def _rank(labels: Sequence[str], order: tuple[str, ...] | None) -> NDArray[np.int64]:
    """The place of each of some labels on the line: in a given order, as numbers, or as text; missing last."""
    place = {label: position for position, label in enumerate(order or ())}
    keys: list[tuple[bool, Any]]
    try:
        keys = [(label == "", place.get(label, 0) if order else float(label or 0)) for label in labels]
    except ValueError:
        keys = [(label == "", label) for label in labels]
    rank = np.empty(len(labels), dtype=np.int64)
    rank[sorted(range(len(labels)), key=keys.__getitem__)] = np.arange(len(labels))
    return rank


def _type_for(column: Distribution, factor: int) -> type[np.int64] | type[np.float64]:
    """Whole numbers where 64 bits hold every sum, floating point beyond."""
    largest = int(column.sizes.max(initial=1)) * int(column.overall.sum()) * max(factor, 1) * 2
    return np.int64 if largest < 1 << 62 else np.float64
