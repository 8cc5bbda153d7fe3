"""anonymity-api: Mondrian that cuts numbers only; categories of a group are joined.

It has k-anonymity and l-diversity, and nothing that promises both: where both are asked for it is given l alone.
"""

from __future__ import annotations

from anonymity_api import anonymity
from timed import frame, measured, settings

asked = settings()
data, names = frame(asked), asked["quasi_identifiers"]
if asked["l"] is None:
    found = measured("anonymity-api", asked, lambda: anonymity.k_anonymity(data, names, asked["k"]))
else:
    found = measured(
        "anonymity-api",
        asked,
        lambda: anonymity.distinct_l_diversity(data, names, [asked["sensitive"]], asked["l"]),
    )
found.to_csv(asked["output"], index=False)
