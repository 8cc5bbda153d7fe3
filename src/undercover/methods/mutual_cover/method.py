"""Mutual cover: the table keeps its shape, and what a row shows may as well be somebody else's.

The idea is that of Li, Wang & He, "Privacy-Preserving Data Publishing via Mutual Cover": one plain table, a plain value
in every cell, rows that cover each other. Their construction (``variant="paper"``,
:mod:`undercover.methods.mutual_cover.paper`) draws values from tables made of the data and can be inverted by somebody
who knows the method. The others are our own (:mod:`undercover.methods.mutual_cover.safe`) and cannot: values are only
permuted among rows, by a law that does not look at whose sensitive value is whose.

- ``layers`` (default): quasi-identifiers permuted inside blocks of near rows, then sensitive values inside groups of l
  different ones: no sensitive value is a person's with more than 1/l.
- ``blocks``: the first layer alone: nobody is the owner of the sensitive value of a row with more than delta.
- ``groups``: quasi-identifiers permuted inside groups of l different sensitive values: both with at most 1/l, and the
  groups keep their margins.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, ClassVar, Literal, cast

from undercover.errors import ParameterError
from undercover.exact import Number, exact
from undercover.guarantees.attribute_cover import AttributeCover
from undercover.guarantees.delta_probability import DeltaProbability
from undercover.guarantees.owner_cover import OwnerCover
from undercover.methods.mutual_cover import paper, safe
from undercover.methods.mutual_cover.draw import Unchanged
from undercover.methods.mutual_cover.tables import Tables
from undercover.model.distance.between import Columns
from undercover.model.groups import Seen
from undercover.model.protocols import Engine, Guarantee, OnParts, Progress, no_progress
from undercover.model.run import Draft
from undercover.model.table import Table
from undercover.parameters import EXACT, AtLeast, Within, check
from undercover.randomness import Randomness

Variant = Literal["layers", "blocks", "groups", "paper"]

_NEEDED = {"layers": ("delta", "l"), "blocks": ("delta",), "groups": ("l",), "paper": ("delta", "l")}
_WHAT = {
    "delta": "how surely the owner of a row may be known",
    "l": "how many values a sensitive value must be one of",
}


@dataclass(frozen=True, kw_only=True)
class MutualCover:
    """A table of the old shape, whose rows cover each other.

    Parameters
    ----------
    delta
        ``blocks``: nobody is the owner of a row's sensitive value with more than this: "1/5". ``layers``: the same of
        the row's place, before sensitive values are permuted. ``paper``: no record has more than this share of any
        released value, in its group; at least 1/l.
    l
        ``layers`` and ``groups``: no sensitive value is a person's with more than 1/l. ``paper``: no sensitive value is
        more than 1/l of a group.
    variant
        ``layers`` (default), ``blocks``, ``groups``, or ``paper``, which is not algorithm-safe.
    robust
        ``layers`` and ``groups``: whoever knows values of people in other groups learns nothing from them either.
        Groups are then dealt at random (`wrap`), and values move further.
    k, t
        ``paper``: what groups must satisfy beyond l: at least k rows, t-closeness by equal distance.
    columns
        ``paper``: values that may be released: those ``observed`` in the group (default), or every whole number in its
        range (``integer_range``).
    tables
        ``paper``: ``optimal`` (default) moves values as little as possible; ``uniform`` makes all of the group equally
        likely.
    unchanged, perturb
        ``paper``: what becomes of rows all of whose values came through: drawn again given a change (``resample``,
        default), ``perturb`` values (1) replaced at random (``paper``), or nothing (``off``).
    median_rule
        ``paper``: ``fallback`` (default) cuts off the largest value where the median is the largest; ``paper`` does
        not cut there.
    keep_order
        ``paper``: publish rows in input order. Whoever knows that order knows whose row is whose.
    partition, strata
        ``paper``: how groups are made: by cuts at medians (``mondrian``, default, Algorithm 2), or dealt within
        ``strata`` as the streamliner's ``guided`` does.

    Examples
    --------
    >>> MutualCover(delta="1/5", l=10).variant
    'layers'
    >>> MutualCover(delta="1/5", variant="blocks").delta
    Fraction(1, 5)
    >>> MutualCover(delta="1/20", l=10, variant="paper")
    Traceback (most recent call last):
    undercover.errors.ParameterError: MutualCover with delta=1/20 needs groups of 20 rows, but ...
    """

    name: ClassVar[str] = "mutual-cover"
    about: ClassVar[str] = "undercover.methods.mutual_cover.about:ABOUT"

    delta: Annotated[Number, Within(0, 1, "(]"), EXACT] | None = None
    l: Annotated[int, AtLeast(2)] | None = None
    variant: Variant = "layers"
    robust: bool = False
    k: Annotated[int, AtLeast(1)] | None = None
    t: Annotated[float | Fraction, Within(0, 1)] | None = None
    columns: Columns | None = None
    tables: Tables | None = None
    unchanged: Unchanged | None = None
    perturb: Annotated[int, AtLeast(1)] | None = None
    median_rule: paper.MedianRule | None = None
    keep_order: bool | None = None
    partition: paper.Grouping | None = None
    strata: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.variant == "paper":
            for name, usual in paper.USUAL.items():
                if getattr(self, name) is None:
                    object.__setattr__(self, name, usual)
        check(self, self._unfit())
        if self.variant == "paper":
            self._require_groups()

    def _unfit(self) -> Iterator[str]:
        for name in _NEEDED[self.variant]:
            if getattr(self, name) is None:
                yield f"The variant `{self.variant}` of MutualCover needs {name}: {_WHAT[name]}."
        if self.variant == "blocks" and self.l is not None:
            yield "The variant `blocks` of MutualCover promises nothing by l; leave it out, or take `layers`."
        if self.variant == "groups" and self.delta is not None:
            yield "The variant `groups` of MutualCover takes no delta: it is 1/l; leave it out, or take `layers`."
        if self.robust and self.variant not in ("layers", "groups"):
            yield f"The variant `{self.variant}` of MutualCover has no choice of robust groups; `layers` has."
        if self.variant == "paper":
            yield from self._unfit_partition()
            return
        for name in (name for name in ("k", "t", *paper.USUAL, "strata") if getattr(self, name) is not None):
            yield f"The variant `{self.variant}` of MutualCover takes no {name}; `paper` does."

    def _unfit_partition(self) -> Iterator[str]:
        if self.strata is not None and self.partition != "guided":
            yield f"The partition `{self.partition}` of MutualCover has no strata; `guided` has."
        if self.partition == "guided":
            mondrian = {"k": self.k is not None, "t": self.t is not None, "median_rule": self.median_rule == "paper"}
            for name in (name for name, given in mondrian.items() if given):
                yield f"The partition `guided` of MutualCover takes no {name}; `mondrian` does."

    def _require_groups(self) -> None:
        """Raise where delta asks for more rows than l and k put together."""
        delta, least = self.share, max(self.values, self.k or 1)
        if delta * least < 1:
            needed = rows_for(delta)
            raise ParameterError(
                f"MutualCover with delta={delta} needs groups of {needed} rows, but l={self.l} promises only {least}. "
                f"Raise l or k to {needed}, or delta to 1/{least}."
            )

    @property
    def algorithm_safe(self) -> bool:
        """All but ``paper``: Algorithm 2 looks at sensitive values, and its protection rests on hidden tables."""
        return self.variant != "paper"

    @property
    def corruption_robust(self) -> bool:
        """``blocks``, which look at no value, and the others where their groups are dealt at random."""
        return self.variant == "blocks" or self.robust

    def claims(self, table: Table) -> tuple[Guarantee, ...]:
        """What the variant promises; all of it is checked in the private run."""
        if self.variant == "paper":
            return (DeltaProbability(delta=self.share),)
        if self.variant == "blocks":
            return (OwnerCover(delta=self.share),)
        of: Literal["value", "cells"] = "value" if self.variant == "groups" else "cells"
        return (AttributeCover(l=self.values), OwnerCover(delta=self.share, of=of))

    def anonymize(
        self, table: Table, *, engine: Engine, randomness: Randomness, progress: Progress = no_progress
    ) -> Draft:
        """Publish the table in its old shape."""
        if self.variant == "paper":
            return paper.cover(cast(paper.Parameters, self), table, engine, randomness, progress)
        return safe.cover(self._permuting, table, engine, randomness, progress)

    def on_parts(self, table: Table, *, engine: Engine, progress: Progress = no_progress) -> OnParts | None:
        """As it is; not where rows keep the order of the input, which no part knows."""
        return None if self.keep_order else OnParts(self)

    def outcomes(self, table: Table) -> Iterator[tuple[Fraction, Seen]] | None:
        """Every way to put a tiny table's people together, inside whose groups the rest is a fair shuffle."""
        return None if self.variant == "paper" else safe.outcomes(self._permuting, table)

    @property
    def share(self) -> Fraction:
        """``delta``, exactly; 1/l where the variant has none of its own."""
        return Fraction(1, self.values) if self.delta is None else exact(self.delta)

    @property
    def values(self) -> int:
        """``l``; 1, of which nothing follows, where the variant has none."""
        return self.l or 1

    @property
    def _permuting(self) -> safe.Permuting:
        size = None if self.variant == "groups" else rows_for(self.share)
        return safe.Permuting(block=size, l=self.l, robust=self.robust)


def rows_for(delta: Fraction) -> int:
    """How many rows must cover each other: 1/delta, rounded up.

    >>> rows_for(Fraction(2, 7))
    4
    """
    return -(-delta.denominator // delta.numerator)
