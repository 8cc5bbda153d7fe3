"""A table whose columns are decided on, profiled in this process."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv

from undercover.waiting import no_progress
from undercover.web.desks.desk import Desk
from undercover.web.desks.project import Project
from undercover.web.jobs.profile import profile

DISEASES = ("flu", "gout", "asthma", "angina", "none")


def patients(rows: int = 60) -> pa.Table:
    """People of whom the most frequent disease is that of a third, each with two visits."""
    disease = [DISEASES[0] if row % 3 == 0 else DISEASES[1 + row % 4] for row in range(rows)]
    return pa.table(
        {
            "patient": [f"p{row // 2}" for row in range(rows)],
            "age": [20 + (7 * row) % 40 for row in range(rows)],
            "sex": ["f" if row % 2 else "m" for row in range(rows)],
            "disease": disease,
            "job": [f"job {row % 6}" for row in range(rows)],
        }
    )


def decided(workspace: Path, table: pa.Table, roles: Mapping[str, Any], desk: str = "own", **spec: Any) -> Project:
    """The table at a desk, with these roles and whatever else a spec says."""
    project = Desk(workspace, desk).add("people.csv", {"kind": "upload", "path": "table.csv"})
    pyarrow.csv.write_csv(table, project.whence)
    profile(project, {"most_rows": 10_000, "most_bytes": 1 << 20}, no_progress)
    columns = {"disease": {"domain": list(DISEASES)}} if "disease" in roles.get("sensitive", ()) else {}
    spec = {"roles": {"drop": ["*"], **roles}, "columns": columns, **spec}
    return project.change(spec=spec, choices={"columns_decided": True})


ONE = {"quasi_identifiers": ["age", "sex"], "sensitive": ["disease"]}
