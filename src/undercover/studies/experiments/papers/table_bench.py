"""What experiments on one table share: it is encoded once, before anything is measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from undercover.model.protocols import Progress
from undercover.model.table import Table


@dataclass(frozen=True, eq=False)
class TableBench:
    """A table and how often each release of it is asked.

    Parameters
    ----------
    load
        Makes the encoded table; called once.
    queries
        Sums each release is asked for.
    """

    load: Callable[[], Table]
    queries: int
    _kept: dict[str, Table] = field(default_factory=dict)

    @property
    def table(self) -> Table:
        """The table, encoded on first use."""
        if "table" not in self._kept:
            self._kept["table"] = self.load()
        return self._kept["table"]

    def prepare(self, progress: Progress) -> None:
        """Encode the table before anything is measured."""
        progress("reading and encoding", 0.0)
        assert self.table is not None
