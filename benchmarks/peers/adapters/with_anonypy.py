"""anonypy: Mondrian over a pandas frame; ranges of numbers, sets of categories, a row for each value with its count."""

from __future__ import annotations

import anonypy
import pandas as pd
from timed import frame, measured, settings

asked = settings()
data, names = frame(asked, categories=True), asked["quasi_identifiers"]
preserver = anonypy.Preserver(data, names, asked["sensitive"])
if asked["l"] is None:
    rows = measured("anonypy", asked, lambda: preserver.anonymize_k_anonymity(k=asked["k"]))
else:
    rows = measured("anonypy", asked, lambda: preserver.anonymize_l_diversity(k=asked["k"], l=asked["l"]))
found = pd.DataFrame([row | {name: row[name][0] for name in names} for row in rows])
found.to_csv(asked["output"], index=False)
