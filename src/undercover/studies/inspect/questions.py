"""What only the holder can answer: which column to publish, to drop, or to count as known; and who is a person.

A column without a role is not published. The question says what publishing it unchanged would do: how many rows its
value alone singles out, and how many more rows what others may know singles out together with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa

from undercover.model.schema import ALL_OTHERS, Schema
from undercover.model.spellings import find_near, list_spellings
from undercover.studies.inspect.columns import ColumnReport, Values
from undercover.studies.inspect.uniqueness import CodedColumn, Combination, class_sizes

QUESTION = "publish, drop, or may somebody know it?"


@dataclass(frozen=True)
class Question:
    """A column nobody has decided on."""

    column: str
    why: str
    alone: int  # rows whose value no other row has
    more: int  # rows that are singled out if this is known beside what others may know, and not without it

    @property
    def text(self) -> str:
        """The question in words."""
        return f"`{self.column}`: {QUESTION}"

    @property
    def effect(self) -> str:
        """What publishing it unchanged would do."""
        if self.more:
            return f"Published unchanged it would single out {self.more:,} more."
        return "Published unchanged it would single out nobody more."

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {**asdict(self), "question": self.text}


@dataclass(frozen=True)
class Repeated:
    """An identifier that occurs in several rows: several rows per person."""

    column: str
    values: int
    rows_sharing: int
    most_rows: int


@dataclass(frozen=True)
class SpellingReport:
    """Values of a sensitive column that seem to be spelled in several ways; for the holder only."""

    column: str
    same: tuple[tuple[str, ...], ...]  # spellings of one value each: counted as one, and refused by publish
    near: tuple[tuple[str, str], ...]  # values that may be the same: publish asks

    @classmethod
    def of(cls, name: str, column: Values) -> SpellingReport | None:
        """What there is to say of a column; ``None`` where its values are no texts, or all spelled differently."""
        if not pa.types.is_string(column.values.type) and not pa.types.is_large_string(column.values.type):
            return None
        texts = column.values.to_pylist()
        same, near = tuple(list_spellings(texts)), tuple(find_near(texts))
        return cls(name, same, near) if same or near else None


def questions(
    columns: Iterable[ColumnReport], coded: Mapping[str, Values], known: Sequence[CodedColumn], schema: Schema | None
) -> tuple[Question, ...]:
    """One for every column without a role, unless the schema says that it is dropped or the weight."""
    decided = {*schema.drop, schema.weight} if schema else set()
    alone_before = _alone(known) if known else 0
    return tuple(
        Question(
            column.name,
            column.reason,
            int((coded[column.name].counts == 1).sum()),
            _alone([*known, coded[column.name].coded]) - alone_before,
        )
        for column in columns
        if column.role == "none" and column.name not in decided and ALL_OTHERS not in decided
    )


def everything(columns: Sequence[ColumnReport], coded: Mapping[str, Values]) -> tuple[tuple[str, Combination], ...]:
    """Whom the table singles out as it stands: by what others may know, and by more and more of the rest."""
    steps = (
        ("what others may know", ("quasi-identifier", "insensitive")),
        ("and what is sensitive", ("sensitive",)),
        ("and what nobody has decided on", ("none",)),
    )
    taken: list[str] = []
    found = []
    for words, roles in steps:
        added = [column.name for column in columns if column.role in roles]
        taken += added
        if added:
            sizes = class_sizes([coded[name].coded for name in taken])
            found.append((words, Combination(tuple(taken), len(sizes), int((sizes == 1).sum()), int(sizes.sum()))))
    return tuple(found)


def unit_of(repeated: Sequence[Repeated], columns: Mapping[str, ColumnReport], schema: Schema | None) -> str | None:
    """The column that says whose row it is: as declared, or the finest key that repeats and is never missing."""
    if schema is not None and schema.unit is not None:
        return schema.unit_column
    complete = [one for one in repeated if not columns[one.column].missing]
    keys = [one for one in complete if "key" in columns[one.column].reason] or complete
    return max(keys, key=lambda one: one.values).column if keys else None


def _alone(columns: Sequence[CodedColumn]) -> int:
    return int((class_sizes(columns) == 1).sum())
