"""(k, l)-anonymity of a release in two tables: the row with at most 1/k, the sensitive value with at most 1/l.

Li, Liu, Han & Zhang, "Cross-Bucket Generalization", Definition 10 and Section 4.1. A box E is what rows of the QIT show
that are written alike, and Num(E, B) how many of them lie in bucket B. Whoever finds a person's box takes each of its
rows to be the person with probability 1/|E|, and each value of a row's bucket with its share there:

    p(E, s) = sum over B of Num(E, B) Num(s, B) / (|E| |B|)

The promise holds if every box has at least k rows and p(E, s) is at most 1/l for every box and value. Somebody whose
values fit several boxes gets a mean of these figures, so what holds for every box holds for everybody.

``actual`` is the largest l: the least 1/p over all boxes and values. In one table every box is its own bucket, and this
is k-anonymity together with frequency l-diversity.

Deviation: the paper's conditions (Corollary 2) speak of the groups the algorithm made. They cannot be told apart where
their boxes coincide, so the definition itself is checked. Comparisons are exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from undercover.arrays import crossed, tally
from undercover.exact import exact, plain
from undercover.forms.classes import Classes
from undercover.forms.distribution import BLOCK, Distribution
from undercover.guarantees.checking import LooksAt, Outcome, Promise, Topic, assess, conclude, of_column, value_of
from undercover.guarantees.k_anonymity import at_least_alike
from undercover.model.beliefs import JointBeliefs, at_most
from undercover.model.figures import counted
from undercover.model.finding import Finding, Sense
from undercover.model.protocols import Cover, Short
from undercover.parameters import AtLeast, check

_CLOSE = 1e-9
_LARGEST = 1 << 62


@dataclass(frozen=True, kw_only=True)
class KLAnonymity(Promise):
    """Every box has at least ``k`` rows and no sensitive value with more than 1/``l``.

    Parameters
    ----------
    k, l
        What is asked for; l may be a fraction.
    column
        One sensitive column; ``None`` means each of them.

    Examples
    --------
    Two boxes of two rows, and two buckets across them with two values each:

    >>> import pyarrow as pa
    >>> from undercover.forms import classes_of
    >>> from undercover.model.release import PublishedColumn, PublishedTable, Release
    >>> qit = pa.table({"age": ["[20, 29]", "[20, 29]", "[30, 34]", "[30, 34]"], "bucket": [0, 1, 0, 1]})
    >>> sat = pa.table({"bucket": [0, 0, 1, 1], "ill": ["flu", "cold", "gout", "rash"], "count": [1, 1, 1, 1]})
    >>> age, ill = PublishedColumn("age", "quasi-identifier", "interval"), PublishedColumn("ill", "sensitive", "value")
    >>> bucket, count = (PublishedColumn(name, "structure", "value") for name in ("bucket", "count"))
    >>> tables = PublishedTable("qit", (age, bucket), qit), PublishedTable("sat", (bucket, ill, count), sat)
    >>> from undercover.model.form import Buckets
    >>> classes = classes_of(Release("cross-bucket", {}, tables, False, form=Buckets()))
    >>> KLAnonymity(k=2, l=4).check(classes)
    <Finding: kl-anonymity holds, 4 where at least 4 is required>
    >>> KLAnonymity(k=3, l=4).check(classes).note
    'The smallest box has 2 rows where k = 3 are required.'
    """

    name: ClassVar[str] = "kl-anonymity"
    sense: ClassVar[Sense] = "at least"
    about: ClassVar[frozenset[Cover]] = frozenset({"identity", "attribute"})
    short: ClassVar[Short] = {}
    looks_at: ClassVar[LooksAt] = "both"
    shown_as: ClassVar[str | None] = "l"

    k: Annotated[int, AtLeast(1)]
    l: Annotated[int | float | Fraction, AtLeast(1)]  # noqa: E741
    column: str | None = None

    def __post_init__(self) -> None:
        check(self)
        object.__setattr__(self, "l", int(self.l) if self.l == int(self.l) else self.l)

    def title(self) -> str:
        """Its name and numbers."""
        return f"({self.k}, {plain(self.l)})-anonymity{of_column(self.column)}"

    def meaning(self) -> str:
        """What it means for the people in the table."""
        return (
            "Whoever knows a person's quasi-identifiers finds at least "
            f"{counted(self.k, 'row that fits', 'rows that fit')}, and gives no {value_of(self.column)} more than "
            f"1/{plain(self.l)}: every row that fits counts with the values of its bucket."
        )

    def limits(self, about: Topic) -> list[str]:
        """Buckets may be small where rows cannot be told apart."""
        if about != "unchanged":
            return []
        return [
            "Whoever tells the rows of a group apart by an unchanged column knows the bucket, and gives a value that "
            "occurs once in it 1 over the rows of the bucket: more than is promised where these are fewer than "
            f"{plain(self.l)}."
        ]

    def is_vacuous(self, classes: Classes) -> bool:
        """k = 1 and l = 1 ask for nothing."""
        return self.k == 1 and self.l == 1

    def check(self, classes: Classes) -> Finding:
        """Find the box and value with the highest probability."""
        boxes = classes.boxes or classes
        outcomes = assess(self.name, classes, self.column, lambda column: self._outcome(classes, boxes, column))
        required = self.l if isinstance(self.l, int) else float(self.l)
        finding = conclude(self, boxes, outcomes, required=required)
        if boxes.count and int(boxes.sizes.min()) < self.k:
            least = int(boxes.sizes.min())
            finding = finding.with_note(
                f"The smallest box has {counted(least, 'row')} where k = {self.k:,} are required."
            )
        return finding

    def holds_jointly(self, beliefs: JointBeliefs) -> bool | None:
        """Whether no value is believed with more than 1/l by having all releases, and k people fit the same rows."""
        about = self.column in (None, beliefs.column) and self.l > 1
        values = beliefs.decide(lambda block: at_most(block, 1 / float(exact(self.l)))) if about else True
        return values if values is not True else at_least_alike(beliefs, self.k)

    def _outcome(self, classes: Classes, boxes: Classes, column: Distribution) -> Outcome:
        whole, most = math.lcm(*np.unique(column.sizes).tolist()), int(boxes.sizes.max())
        highest, kept, done = np.zeros(boxes.count), boxes.sizes >= self.k, 0
        for part in _spread(classes, boxes).blocks(BLOCK // 4):
            some = slice(done, done + part.n_classes)
            box, share, above = _entries(part, column).judged(boxes.sizes[some], exact(self.l), whole, most)
            np.maximum.at(highest[some], box, share)
            kept[some][box[above]] = False
            done = some.stop
        return Outcome(1.0 / highest, kept, column.name)


@dataclass(frozen=True)
class _Entries:
    """One entry for every box, bucket of its rows and value of that bucket, sorted by box and value.

    It stands for ``numerator / size`` rows of the box that have the value, in expectation.
    """

    keys: NDArray[np.int64]  # box * n_values + value
    numerator: NDArray[np.int64]  # Num(E, B) Num(s, B)
    size: NDArray[np.int64]  # |B|
    n_values: int

    def judged(
        self,
        box_sizes: NDArray[np.int64],
        l: Fraction,  # noqa: E741
        whole: int,
        most: int,
    ) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.bool_]]:
        """For every box and value: the box, p, and whether p is above 1/l.

        ``whole`` is a multiple of the rows of every bucket, ``most`` the rows of the largest box.
        """
        first = np.flatnonzero(np.append(True, self.keys[1:] != self.keys[:-1]))
        box = self.keys[first] // self.n_values
        rows = box_sizes[box]
        if whole * most * max(l.numerator, l.denominator) < _LARGEST:
            expected = np.add.reduceat(self.numerator * (whole // self.size), first)  # in parts of 1 / whole
            return box, expected / whole / rows, expected * l.numerator > rows * whole * l.denominator
        share = np.add.reduceat(self.numerator / self.size, first) / rows
        above = share * float(l) > 1.0
        ends = np.append(first[1:], len(self.keys))
        for i in np.flatnonzero(np.abs(share * float(l) - 1.0) < _CLOSE):
            parts = zip(
                self.numerator[first[i] : ends[i]].tolist(), self.size[first[i] : ends[i]].tolist(), strict=True
            )
            above[i] = sum(Fraction(*part) for part in parts) * l > int(rows[i])
        return box, share, above


def _spread(classes: Classes, boxes: Classes) -> Distribution:
    """How the rows of every box are spread over the buckets."""
    buckets, every = pa.nulls(classes.count), np.arange(classes.count + 1)
    if classes.boxes is None:
        return Distribution("", buckets, every, every[:-1], classes.sizes, classes.sizes)
    keys = crossed(boxes.labels, boxes.count, classes.labels, classes.count)
    return Distribution.of_keys("", buckets, *tally(keys, boxes.count * classes.count), classes.sizes, boxes.count)


def _entries(boxes: Distribution, column: Distribution) -> _Entries:
    bucket = boxes.value_index
    entry, times = column.entries_of(bucket)
    keys = np.repeat(boxes.class_index, times) * column.n_values + column.held_values[entry]
    order = np.argsort(keys, kind="stable")
    numerator = np.repeat(boxes.counts, times) * column.held_counts[entry]
    size = column.sizes[np.repeat(bucket, times)]
    return _Entries(keys[order], numerator[order], size[order], column.n_values)
