"""Information loss: how much of each cell's detail generalisation took away, from 0 (nothing) to 1 (everything).

Each cell is charged by how many values it stands for. With L the values it covers and N all there are (the leaves of
the column's hierarchy where it has one, else the distinct values of the original):

- ARX's loss: (L - 1)/(N - 1); over the table the arithmetic mean of all cells, or ARX's geometric mean over the d
  columns, prod(1 + x)^(1/d) - 1 with x the mean loss of a column.
- ILoss (Xiao & Tao 2006, "Personalized privacy preservation", Section 6): (L - 1)/N.
- NCP (Xu et al. 2006): for numbers and dates the width of the cell over the width of the column, else (L - 1)/(N - 1).

A column with a single value has nothing to lose. A suppressed row has lost everything: 1 in every cell. A missing value
counts as one more value; a cell that joins it with numbers has lost the whole scale.

Deviations: ILoss and NCP are given as means per cell, weighted by the schema's weights, instead of sums over rows; so
all totals lie between 0 and 1 and do not grow with the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from undercover.arrays import count
from undercover.errors import DataError, SchemaError, described, unknown
from undercover.forms.meaning import NOTHING, Meaning, Values, domain_values, leaf_values
from undercover.model.cells import EVERYTHING, CellForm
from undercover.model.table import EncodedColumn, Table
from undercover.model.view import View, Viewable, table

if TYPE_CHECKING:
    from undercover.forms.reading import Reading

Losses = NDArray[np.float64]


@dataclass(frozen=True)
class Loss(Viewable):
    """One measure: a total and each column's share.

    ``arithmetic`` is the plain mean of all cells, ``weighted`` the mean by the schema's weights and ``geometric`` the
    geometric mean over the columns, prod(1 + x)^(1/d) - 1 with x the mean loss of a column.

    >>> round(Loss.of_columns({"age": 0.21, "sex": 0.0}, {"age": 1.0, "sex": 3.0}).geometric, 12)
    0.1
    """

    arithmetic: float
    weighted: float
    geometric: float
    per_column: dict[str, float]

    @classmethod
    def of_columns(cls, per_column: Mapping[str, float], weights: Mapping[str, float]) -> Loss:
        """The totals of what each column has lost on average."""
        means = np.array(list(per_column.values()))
        weighed = np.array([weights.get(name, 1.0) for name in per_column])
        return cls(
            arithmetic=float(means.mean()),
            weighted=float(np.dot(means, weighed) / weighed.sum()),
            geometric=float(np.expm1(np.log1p(means).mean())),
            per_column=dict(per_column),
        )

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return asdict(self)

    def view(self) -> View:
        """What it shows: altogether and by column."""
        means = {"arithmetic": self.arithmetic, "weighted": self.weighted, "geometric": self.geometric}
        rows = [(f"all columns, {name} mean", value) for name, value in means.items()]
        rows += [(f"`{name}`", value) for name, value in self.per_column.items()]
        shown = table(("column", "loss (0 to 1)"), "plain cost", rows)
        return View("loss", "Loss", (shown,), following="`.to_dict()` has the numbers.", private=True)


@dataclass(frozen=True)
class CellLoss:
    """The losses of the distinct cells of one column."""

    arx: Losses
    iloss: Losses
    ncp: Losses


def losses(original: Table, reading: Reading) -> dict[str, Loss]:
    """The three measures of a release, by name: ``arx``, ``iloss`` and ``ncp``."""
    classes, table = reading.classes, reading.main
    boxes = classes.boxes or classes
    names = classes.quasi_identifiers
    absent = [name for name in names if name not in original.columns]
    if absent:
        raise SchemaError([unknown("Column", name, original.columns) for name in absent])
    lost: dict[str, dict[str, float]] = {"arx": {}, "iloss": {}, "ncp": {}}
    rows = boxes.rows + classes.suppressed
    problems: list[str] = []
    for name in names:
        column = reading.column(name)
        try:
            cells = cell_losses(original[name], column.labels, table.form(name))
        except DataError as error:
            problems += error.problems
            continue
        people = count(column.codes[boxes.representatives], len(column.labels), boxes.sizes)
        for measure, means in lost.items():  # a suppressed row has lost everything
            total = float(np.dot(getattr(cells, measure), people)) + classes.suppressed
            means[name] = total / rows if rows else 0.0
    if problems:
        raise DataError(problems)
    weights = {name: original[name].settings.weight for name in names}
    return {measure: Loss.of_columns(means, weights) for measure, means in lost.items()}


def cell_losses(column: EncodedColumn, cells: tuple[str, ...], form: CellForm) -> CellLoss:
    """The losses of distinct cells of one column.

    >>> import pyarrow as pa
    >>> from undercover.model.schema import Column
    >>> from undercover.model.table import encode
    >>> towns = encode("town", pa.array(["Bonn", "Lyon", "Rome"]), Column(), missing="error")
    >>> cell_losses(towns, ("Bonn", "{Bonn, Rome}", "*"), "set").arx.tolist()
    [0.0, 0.5, 1.0]
    """
    values, leaves = domain_values(column), leaf_values(column)
    read = leaves.read_all(cells, form)
    wrong = [cell for cell, meaning in zip(cells, read, strict=True) if meaning == NOTHING]
    if wrong:
        raise DataError(f"Cells of `{column.name}` that stand for no value of the original: {described(wrong)}.")
    covered = np.array([meaning.size for meaning in read], dtype=np.float64)
    share = (covered - 1) / max(leaves.size - 1, 1)
    ncp = share
    if values.kind in ("numeric", "date"):
        covering = values.read_all(cells, form)
        ncp = np.array([_width(values, cell, meaning) for cell, meaning in zip(cells, covering, strict=True)])
    return CellLoss(share, (covered - 1) / leaves.size, ncp)


def _width(values: Values, cell: str, meaning: Meaning) -> float:
    """Width of a cell over the width of the column, over the values of the original it covers."""
    if cell == EVERYTHING:
        return float(values.size > 1)
    if meaning.size < 2:
        return 0.0
    missing = values.size - 1 if values.has_missing else values.size
    if meaning.high == missing:
        return 1.0
    numbers = values.numbers[:missing]
    return float((numbers[meaning.high] - numbers[meaning.low]) / (numbers[-1] - numbers[0]))
