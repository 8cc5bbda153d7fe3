"""pycanon: it changes no table, it tells k and l of one."""

from __future__ import annotations

from pycanon.anonymity import k_anonymity, l_diversity
from timed import frame, measured, settings

asked = settings()
data, names = frame(asked), asked["quasi_identifiers"]
measured(
    "pycanon",
    asked,
    lambda: {"k": int(k_anonymity(data, names)), "l": int(l_diversity(data, names, [asked["sensitive"]]))},
)
