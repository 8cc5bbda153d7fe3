"""Rows and people who are alike in some columns, class by class; one more column splits every class by counting.

Subsets of the columns are gone through in such an order that each has one column more, behind its others, than one that
came before it. Its classes are parts of the classes of that one, so nothing is sorted anew. A class that has rows and
no people, or people and no rows, has neither in any larger subset: it is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Subset = tuple[int, Sequence["Alike"]]  # its size, and its classes


class Codes(NamedTuple):
    """What rows and people have in every column, as codes below ``sizes``; rows may have that one, which nobody has."""

    rows: NDArray[np.int32]  # (d, n_rows)
    people: NDArray[np.int32]  # (d, n_people)
    sizes: tuple[int, ...]  # (d,)

    @classmethod
    def of(cls, rows: Integers, people: Integers, sizes: Sequence[int]) -> Codes:
        """From (n_rows, d) and (n_people, d) codes; rows may have -1, which nobody has, too."""
        told = np.where(rows < 0, np.array(sizes), rows)
        by_column = [np.ascontiguousarray(codes.T, dtype=np.int32) for codes in (told, people)]
        return cls(by_column[0], by_column[1], tuple(sizes))


class Alike(NamedTuple):
    """Class c has the rows ``rows[row_starts[c]:row_starts[c + 1]]``, and people likewise."""

    rows: Integers
    row_starts: Integers
    people: Integers
    person_starts: Integers

    @classmethod
    def in_nothing(cls, n_rows: int, n_people: int) -> Alike:
        """Everything in one class, since no column is looked at."""
        return cls(np.arange(n_rows), np.array([0, n_rows]), np.arange(n_people), np.array([0, n_people]))

    @classmethod
    def in_groups(cls, groups: Integers) -> Alike:
        """People by their groups (n_people,), and a row of each with them; row i is that of person i."""
        order, starts = np.argsort(groups, kind="stable"), np.append(0, np.cumsum(np.bincount(groups)))
        return cls(order, starts, order, starts)

    @property
    def class_of(self) -> Integers:
        """The class of each of the people, in their order."""
        return np.repeat(np.arange(len(self.person_starts) - 1), np.diff(self.person_starts))

    def split(self, codes: Codes, column: int) -> Alike:
        """The classes of those who are alike in one more column."""
        from undercover.attacks.partial.kernels import split_classes

        return Alike(*split_classes(self, codes.rows[column], codes.people[column], codes.sizes[column]))


def subsets(found: Sequence[Alike], codes: Sequence[Codes], *, with_first: bool) -> Iterator[Subset]:
    """All subsets with the first column, or all without it; classes are parts of those ``found`` in no column.

    Those of one size come in the order of :func:`itertools.combinations`. What has a column more than a subset in which
    nobody is alike to a row of the first ``found`` is left out.
    """
    return _beyond(_split(found, codes, 0), codes, 1, 1) if with_first else _beyond(found, codes, 0, 1)


def _beyond(found: Sequence[Alike], codes: Sequence[Codes], size: int, first: int) -> Iterator[Subset]:
    """A subset, and all that have columns from the ``first`` on besides."""
    yield size, found
    if len(found[0].people):
        for column in range(first, len(codes[0].sizes)):
            yield from _beyond(_split(found, codes, column), codes, size + 1, column + 1)


def _split(found: Sequence[Alike], codes: Sequence[Codes], column: int) -> Sequence[Alike]:
    return [each.split(of, column) for each, of in zip(found, codes, strict=True)]
