"""What is known of a release of the past in which people of a new table are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Earlier:
    """An earlier release, as a ledger keeps it, and how many people of a new table are in it.

    Any overlap counts: whoever is in both tables is in both releases. ``known_by`` are the columns by which people were
    recognised. Where these are quasi-identifiers, different people may have them in common: ``shared`` is then at least
    the number of people in both.

    Examples
    --------
    >>> Earlier(number=2, method="anatomy", made="2026-11-15", rows=500, shared=12, known_by=("name",)).sentence()
    '12 of the 500 rows (2.4%) are of people of release 2 (anatomy, 2026-11-15), by `name`'
    """

    number: int
    method: str
    made: str
    rows: int  # of the new table
    shared: int  # of these, rows of people who are in the release
    known_by: tuple[str, ...]
    exact: bool = True  # False: equal quasi-identifiers may be those of different people
    name: str = ""  # of the folder
    folder: str | None = None  # where it was written
    release: str | None = None  # sha256 of its release.json
    guarantees: tuple[Mapping[str, Any], ...] = ()
    sensitive: tuple[str, ...] = ()
    domain: tuple[str, ...] | None = None  # values its sensitive column was drawn from
    ratio: float | None = None  # how many times likelier it makes one value of a person than another; None: no limit

    @property
    def called(self) -> str:
        """How it is spoken of."""
        where = f", `{self.name}`" if self.name else ""
        return f"release {self.number} ({self.method}, {self.made[:10]}{where})"

    def sentence(self) -> str:
        """How many people are in both, in words, without a full stop; it names no person."""
        columns = ", ".join(f"`{name}`" for name in self.known_by)
        share = f"{self.shared:,} of the {self.rows:,} rows ({self.shared / max(self.rows, 1):.1%})"
        if self.exact:
            return f"{share} are of people of {self.called}, by {columns}"
        return (
            f"{share} have the quasi-identifiers of somebody in {self.called}; they may be different people, and are "
            "counted as the same"
        )

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "number": self.number,
            "method": self.method,
            "made": self.made,
            "folder": self.folder,
            "release": self.release,
            "rows": self.rows,
            "shared": self.shared,
            "share": self.shared / max(self.rows, 1),
            "known_by": list(self.known_by),
            "exact": self.exact,
            "likelihood_ratio": self.ratio,
        }
