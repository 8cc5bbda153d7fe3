"""Swap: quasi-identifier values change places among a random share of the rows, each column by itself.

After Dalenius & Reiss 1982, "Data-swapping: a technique for disclosure control".

It looks at nothing: which rows swap, and with whom, is drawn whatever the values are, and the share is stated in the
release. So whoever knows the algorithm knows no more than whoever reads ``release.json``, and ``algorithm_safe`` is
true. That says little: nothing is promised, and a row whose values were not swapped is its owner's as it stands.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from example_plugin.form import Swapped
from undercover.errors import UnreachableError
from undercover.model.groups import Groups
from undercover.model.protocols import Engine, Guarantee, Progress, no_progress
from undercover.model.release import PublishedColumn, PublishedTable
from undercover.model.run import Draft
from undercover.model.table import Table
from undercover.parameters import Within, check
from undercover.randomness import Randomness


@dataclass(frozen=True, kw_only=True)
class Swap:
    """Swap quasi-identifier values among rows.

    Parameters
    ----------
    share
        Of the rows, drawn anew for every quasi-identifier; the values of these rows change places.

    Examples
    --------
    >>> Swap(share=1.5)
    Traceback (most recent call last):
    undercover.errors.ParameterError: The 'share' parameter of Swap must be a number in (0, 1]. Got 1.5 instead.
    """

    name: ClassVar[str] = "swap"
    about: ClassVar[str] = "example_plugin.about:ABOUT"

    share: Annotated[float, Within(0, 1, "(]")] = 0.5

    def __post_init__(self) -> None:
        check(self)

    @property
    def algorithm_safe(self) -> bool:
        """What is swapped depends on no value, and the form states how much."""
        return True

    def claims(self, table: Table) -> tuple[Guarantee, ...]:
        """Nothing."""
        return ()

    def anonymize(
        self, table: Table, *, engine: Engine, randomness: Randomness, progress: Progress = no_progress
    ) -> Draft:
        """Swap column by column, and shuffle the rows."""
        n_rows = table.n_rows
        order = np.argsort(randomness.words("order of rows", n_rows), kind="stable")
        position = np.empty(n_rows, dtype=np.int64)
        position[order] = np.arange(n_rows)
        columns, data = [], []
        for name in table.schema.quasi_identifiers:
            progress(f"swapping {name}", 0.0)
            columns.append(PublishedColumn(name, "quasi-identifier", "value"))
            data.append(table[name].domain.take(self.swapped(table[name].codes, name, randomness)[order]))
        for role, names in (("sensitive", table.schema.sensitive), ("insensitive", table.schema.insensitive)):
            for name in names:
                columns.append(PublishedColumn(name, role, table[name].settings.form))
                data.append(table[name].domain.take(table[name].codes[order]))
        published = pa.table(data, names=[column.name for column in columns])
        return Draft(
            tables=(PublishedTable("table", tuple(columns), published),),
            groups=Groups(np.zeros(n_rows, dtype=np.int32), 1),
            form=Swapped(share=self.share),
            frames={"published_rows": pa.table({"row": table.rows, "published": position})},
        )

    def swapped(self, codes: NDArray[np.unsignedinteger], name: str, randomness: Randomness) -> NDArray[np.integer]:
        """(n_rows,) codes of which a share of the rows took the next one's, in an order that was drawn."""
        count = int(len(codes) * self.share)
        if count < 2:
            raise UnreachableError(
                f"A share of {self.share:g} of {len(codes)} rows leaves nobody to swap with. Ask for 2 rows or more.",
                best={"share": 2 / len(codes)},
            )
        chosen = np.argsort(randomness.words(f"swap {name}", len(codes)), kind="stable")[:count]
        found = codes.copy()
        found[chosen] = codes[np.roll(chosen, 1)]
        return found
