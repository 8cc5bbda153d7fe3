"""The form of a swapped table, as data: it goes into ``release.json``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from undercover.model.form import Drawn


@dataclass(frozen=True, kw_only=True)
class Swapped(Drawn):
    """A table in its old shape, of which a ``share`` of the rows had each quasi-identifier swapped among them.

    >>> Swapped(share=0.9).order
    'shuffled'
    """

    name: ClassVar[str] = "swapped"

    share: float

    def stated(self) -> Mapping[str, Any]:
        """The share stands in the parameters of the method as well."""
        return {"share": self.share}
