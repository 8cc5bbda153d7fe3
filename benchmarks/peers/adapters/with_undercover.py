"""undercover, by its public functions. ``publish`` verifies what it made, which is part of its time.

The first call finds compiled code on disk and loads it; the second has it loaded.
"""

from __future__ import annotations

from typing import Any

import pyarrow.csv
from timed import measured, settings

import undercover as uc
from undercover.guarantees.verify import verify_table
from undercover.model.hierarchy import Hierarchy
from undercover.model.schema import Column

asked = settings()
data = pyarrow.csv.read_csv(asked["table"])
names, sensitive = asked["quasi_identifiers"], asked["sensitive"]


def schema(*, trees: bool) -> uc.Schema:
    rows = asked["hierarchies"]
    columns = {name: Column(hierarchy=Hierarchy(rows[name])) for name in names} if trees else {}
    return uc.Schema(quasi_identifiers=names, sensitive=sensitive, columns=columns)


def verified() -> dict[str, Any]:
    promises = [uc.KAnonymity(k=asked["k"]), uc.LDiversity(l=asked["l"], form="distinct")]
    k, l = verify_table(data, names, [sensitive], promises).findings  # noqa: E741
    return {"k": k.actual, "l": l.actual}


if asked["task"] == "verify":
    measured("undercover", asked, verified)
else:
    diverse = {} if asked["l"] is None else {"l": asked["l"], "diversity": "distinct"}
    method, trees = {
        "mondrian": (uc.Mondrian(k=asked["k"], **diverse), False),
        "mondrian-median": (uc.Mondrian(k=asked["k"], cut="median", **diverse), False),
        "mondrian-nodes": (uc.Mondrian(k=asked["k"], **diverse), True),
        "incognito": (uc.Incognito(k=asked["k"], suppression=asked["suppression"], **diverse), True),
    }[asked["variant"]]
    run = measured("undercover", asked, lambda: uc.publish(data, schema(trees=trees), method))
    pyarrow.csv.write_csv(run.release.table(), asked["output"])
