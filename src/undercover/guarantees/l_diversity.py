"""l-diversity: the sensitive values of every class are well spread, in four meanings.

- ``frequency``: no value makes up more than 1/l of its class (Xiao & Tao 2006, Definition 2; the papers' "l").
- ``distinct``: at least l different values (Machanavajjhala et al. 2007, Section 4).
- ``entropy``: the entropy of the values is at least log(l) (the same, Definition 4.1).
- ``recursive``: with counts r1 >= r2 >= ... the most frequent value satisfies r1 <= c (rl + ... + rm) (Definition 4.2).

``actual`` is the largest l that holds: class size over largest count, number of values, exp of the entropy, and the
largest whole l for the given c (0 where not even l = 1 holds).

Deviations: equality keeps the recursive form, as in Tao, Xiao, Li & Zhang (Figure 1: counts of 3, 2, 2, 2, 1 and 1 are
(1/2, 3)-diverse); Machanavajjhala et al. write r1 < c (rl + ... + rm). A missing sensitive value counts as a value, as
the schema that let it through declared. Spellings of one value count as one
(:mod:`undercover.model.spellings`). Frequencies and counts are compared as whole numbers; only the entropy needs a
tolerance (1e-12).

``per`` names the column that says whose row it is, where people have several: then it is the belief that a value is
among the rows a person has in a class. With m rows of n, c of them with the value, that is at most m c / n
(docs/theory/units.md), so what single rows keep is divided by the most rows anybody has in a class.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from undercover.exact import compare, exact, plain
from undercover.forms import read
from undercover.forms.classes import Classes
from undercover.forms.distribution import Distribution
from undercover.guarantees import per_unit
from undercover.guarantees.checking import Given, Outcome, Promise, assess, conclude, in_blocks, of_column, value_of
from undercover.model.beliefs import ROUNDING, BeliefBlock, JointBeliefs, Judgement, at_least_left, at_most
from undercover.model.finding import Finding, Sense
from undercover.model.protocols import Cover, Short
from undercover.model.run import Run
from undercover.parameters import Above, AtLeast, check

DiversityForm = Literal["frequency", "distinct", "entropy", "recursive"]

_TOLERANCE = 1e-12


@dataclass(frozen=True, kw_only=True)
class LDiversity(Promise):
    """Every class is ``l``-diverse.

    Parameters
    ----------
    l
        A number of at least 1; whole for ``distinct`` and ``recursive``.
    form
        Which of the four meanings.
    c
        The constant of the recursive form; the others have none.
    column
        One sensitive column; ``None`` means each of them.
    per
        The column that says whose row it is, where people have several; for ``frequency`` only.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from undercover.forms.classes import classes_of_table
    >>> data = pa.table({"age": [1, 1, 1, 1], "ill": ["flu", "flu", "cold", "gout"]})
    >>> classes = classes_of_table(data, ["age"], ["ill"], suppressed_is_star=True)
    >>> [LDiversity(l=2, form=form).check(classes).shown() for form in ("frequency", "distinct", "entropy")]
    ['2', '3', '2.82']
    >>> LDiversity(l=2, form="recursive", c=2).check(classes).actual
    3
    """

    name: ClassVar[str] = "l-diversity"
    sense: ClassVar[Sense] = "at least"
    about: ClassVar[frozenset[Cover]] = frozenset({"attribute"})
    short: ClassVar[Short] = {
        "l": {"form": "frequency"},
        "distinct-l": {"form": "distinct"},
        "entropy-l": {"form": "entropy"},
        "recursive-l": {"form": "recursive", "c": Given("recursive-l=3,c=2", needed=True)},
    }
    least_rows: ClassVar[str | None] = "l"
    remarks: ClassVar[tuple[str, ...]] = (r"Nobody has more than [0-9,]+ rows in a class or bucket\.",)

    l: Annotated[int | float | Fraction, AtLeast(1)]  # noqa: E741
    form: DiversityForm = "frequency"
    c: Annotated[int | float | Fraction, Above(0)] | None = None
    column: str | None = None
    per: str | None = None

    def __post_init__(self) -> None:
        check(self, self._unfit())
        object.__setattr__(self, "l", int(self.l) if self.l == int(self.l) else self.l)

    def _unfit(self) -> Iterator[str]:
        finite = isinstance(self.l, int | float | Fraction) and 1 <= self.l < math.inf
        if finite and self.form in ("distinct", "recursive") and self.l % 1:
            yield f"The 'l' parameter of LDiversity must be an int in [1, inf). Got {self.l!r} instead."
        if self.form == "recursive" and self.c is None:
            yield (
                "The 'c' parameter of LDiversity must be a number in (0, inf) with form = \"recursive\". "
                "Got None instead."
            )
        if self.form != "recursive" and self.c is not None:
            yield f"The 'c' parameter of LDiversity belongs to form = \"recursive\". Got {self.c!r} instead."
        if self.per is not None and self.form != "frequency":
            yield f"The 'per' parameter of LDiversity belongs to form = \"frequency\". Got {self.form!r} beside it."

    def title(self) -> str:
        """Its name and numbers."""
        per = "" if self.per is None else f" per {self.per}"
        constant = "" if self.c is None else f", c = {plain(self.c)}"
        if self.l == 1 and self.c is None:
            return f"l-diversity, not asked for (l = 1){of_column(self.column)}{per}"
        return f"{plain(self.l)}-diversity ({self.form}{constant}){of_column(self.column)}{per}"

    def meaning(self) -> str:
        """What it means for the people in the table."""
        number = plain(self.l)
        if self.l == 1 and self.c is None:
            return "It asks for nothing: everybody in a class or bucket may have the same value."
        if self.per is not None:
            return (
                f"Whoever knows all rows of a person believes of no value with more than 1/{number} that it is among "
                "those the person has in a class or bucket. Over r classes that may add up to "
                f"1 - (1 - 1/{number})^r, which the linkage attack counts. Who is who, only the private run tells."
            )
        if self.form == "frequency":
            return (
                f"No {value_of(self.column)} makes up more than 1/{number} of a class or bucket: whoever finds a "
                f"person's class guesses right with probability 1/{number} at most."
            )
        if self.form == "distinct":
            return f"Every class or bucket holds at least {number} different sensitive values."
        if self.form == "entropy":
            return f"The values of every class are spread at least as evenly as {number} equally frequent ones."
        return (
            f"In every class the most frequent value occurs at most {plain(self.c or 0)} times as often as the "
            f"{number}-th most frequent and all rarer values together."
        )

    def is_vacuous(self, classes: Classes) -> bool:
        """l = 1 asks for nothing; in the recursive form with c of at least 1."""
        return self.l == 1 and (self.c is None or self.c >= 1)

    def check(self, classes: Classes) -> Finding:
        """Find the least diverse class."""
        if self.per is not None:
            return per_unit.untold(self, float(self.l), self.sense)
        outcomes = assess(self.name, classes, self.column, in_blocks(self._outcome))
        required = self.l if isinstance(self.l, int) else float(self.l)
        return conclude(self, classes, outcomes, required=required)

    def check_run(self, run: Run) -> Finding:
        """What single rows keep, over the most rows that anybody has in a class (docs/theory/units.md)."""
        found = per_unit.held(run)
        if found is None:
            return per_unit.missing(self, float(self.l), self.sense)
        rows = replace(self, per=None).check(read(run.release).classes)
        most = int(found.most.max(initial=1))
        actual = None if rows.actual is None else rows.actual / most
        holds = bool(rows.holds) and (most == 1 or (actual is not None and actual >= self.l))
        note = f"Nobody has more than {most:,} rows in a class or bucket." if most > 1 else ""
        required = float(self.l) if rows.required is None else rows.required
        return Finding(
            self.name,
            self.parameters(),
            required,
            actual,
            holds,
            needs=per_unit.NEEDS,
            note=" ".join(filter(None, (rows.note, note))),
            sense=self.sense,
        )

    def holds_jointly(self, beliefs: JointBeliefs) -> bool | None:
        """Whether the values of everybody stay as diverse; per person, nobody looked."""
        if self.column not in (None, beliefs.column) or (self.l == 1 and self.c is None):
            return True
        return None if self.per is not None else beliefs.decide(self._judge)

    def _judge(self, block: BeliefBlock) -> Judgement:
        if self.form == "frequency":
            return at_most(block, 1 / float(exact(self.l)))
        left = at_least_left(block, int(self.l) if self.form != "entropy" else math.ceil(self.l - _TOLERANCE))
        if self.form == "distinct":
            return left
        kept = _entropy_kept(block.most, float(self.l)) if self.form == "entropy" else self._recursive_kept(block.most)
        return Judgement(block.settled & kept, left.fails | (block.settled & ~kept))

    def _recursive_kept(self, shares: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Whether r1 <= c (rl + ... + rm), of shares in place of counts."""
        ordered = -np.sort(-shares, axis=1)
        tail = ordered[:, int(self.l) - 1 :].sum(axis=1)
        return np.asarray(ordered[:, 0] <= float(exact(self.c or 0)) * tail + ROUNDING)

    def _outcome(self, column: Distribution) -> Outcome:
        actual: NDArray[Any]
        if self.form == "frequency":
            actual = column.sizes / column.largest
            kept = compare(column.sizes, column.largest, exact(self.l)) >= 0
        elif self.form == "distinct":
            actual = column.distinct
            kept = actual >= int(self.l)
        elif self.form == "entropy":
            entropy = _entropy(column)
            needed = math.log(self.l)
            actual = np.exp(entropy)
            kept = entropy >= needed - _TOLERANCE * max(1.0, needed)
        else:
            actual = _largest_recursive(column, exact(self.c or 0))
            kept = actual >= int(self.l)
        return Outcome(actual, kept, column.name)


def _entropy_kept(shares: NDArray[np.float64], l: float) -> NDArray[np.bool_]:  # noqa: E741
    """Whether the entropy of shares is at least log(l)."""
    logs = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
    return np.asarray(-(shares * logs).sum(axis=1) >= math.log(l) - ROUNDING)


def _entropy(column: Distribution) -> NDArray[np.float64]:
    """log n - (sum of r log r) / n for each class of n rows."""
    terms = np.bincount(column.class_index, column.counts * np.log(column.counts), minlength=column.n_classes)
    return np.maximum(np.log(column.sizes) - terms / column.sizes, 0.0)


def _largest_recursive(column: Distribution, c: Fraction) -> NDArray[np.int64]:
    """The largest l with r1 <= c (rl + ... + rm); the sum shrinks as l grows, so counting where it holds is enough."""
    order = np.lexsort((-column.counts, column.class_index))
    counts = column.counts[order]
    before = np.cumsum(counts) - counts
    tails = column.sizes[column.class_index] - (before - before[column.starts[:-1]][column.class_index])
    holds = compare(column.largest[column.class_index], tails, c) <= 0
    return column.sums(holds.astype(np.int64))
