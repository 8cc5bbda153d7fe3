"""Adult and the workers of the ACS as the safe variants are measured on: seven quasi-identifiers, l = 10 within reach.

Adult (45,222 rows): occupation, work class and salary class joined to one column of 159 values, since none alone allows
l = 10. ACS 2024: the first 40,152 workers with their income.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from undercover.io.source import read
from undercover.model.schema import Column, Schema
from undercover.model.table import Table

ADULT_QI = ("sex", "age", "relationship", "marital-status", "race", "education", "hours-per-week")
ACS_QI = ("sex", "age", "marital", "race", "education", "workclass", "hours")
NUMBERS = ("age", "hours-per-week", "hours")
ACS_ROWS = 40_152
ADULT_ASKED = (("age", "sex"), ("education", "marital-status"), ("hours-per-week", "relationship"))
ACS_ASKED = (("age", "sex"), ("education", "marital"), ("hours", "workclass"))


def adult_table(folder: Path) -> Table | None:
    """Adult with the sensitive column ``job``; nothing where ``folder`` does not have it."""
    file = folder / "adult" / "adult_complete.csv.gz"
    if not file.is_file():
        return None
    data = read(file).data
    parts = [pc.cast(data[name], pa.string()) for name in ("occupation", "workclass", "salary-class")]
    job = pc.binary_join_element_wise(*parts, "/")
    return _encoded(data.append_column("job", job), ADULT_QI, "job")


def acs_table(folder: Path) -> Table | None:
    """Workers of the ACS with the sensitive column ``income``; nothing where ``folder`` does not have them."""
    file = folder / "acs2024" / "acs2024_workers.parquet"
    return _encoded(pq.read_table(file).slice(0, ACS_ROWS), ACS_QI, "income") if file.is_file() else None


def _encoded(data: pa.Table, names: tuple[str, ...], sensitive: str) -> Table:
    columns = {}
    for name in names:
        columns[name] = data[name] if name in NUMBERS else pc.cast(data[name], pa.string())
    kinds = {name: Column(kind="numeric" if name in NUMBERS else "categorical") for name in names}
    schema = Schema(quasi_identifiers=names, sensitive=sensitive, columns=kinds)
    return Table.from_arrow(pa.table({**columns, sensitive: data[sensitive]}), schema)
