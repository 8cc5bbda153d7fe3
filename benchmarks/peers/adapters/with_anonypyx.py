"""anonypyx: a fork of anonypy; Mondrian, written for people to read (ranges and sets), with counts."""

from __future__ import annotations

import anonypyx
from timed import frame, measured, settings

asked = settings()
anonymiser = anonypyx.Anonymiser(
    frame(asked, categories=True),
    k=asked["k"],
    l=asked["l"],
    algorithm="Mondrian",
    feature_columns=asked["quasi_identifiers"],
    sensitive_column=asked["sensitive"],
    generalisation_strategy="human-readable",
)
found = measured("anonypyx", asked, anonymiser.anonymise)
found.to_csv(asked["output"], index=False)
