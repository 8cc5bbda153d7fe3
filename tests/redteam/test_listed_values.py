"""Once ``release.json`` of perturbed generalization listed every postcode of the table, to show disjoint cells."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import undercover as uc
from undercover.model.cells import named
from undercover.model.schema import Column

N = 1500
DISEASES = ("flu", "cold", "gout", "rash")
RANDOM = np.random.default_rng(5)
ZIPS = [f"{code:05d}" for code in RANDOM.integers(1000, 9999, N)]
TABLE = pa.table({"zip": ZIPS, "age": RANDOM.integers(18, 90, N), "disease": RANDOM.choice(DISEASES, N)})


def publish(order: tuple[str, ...] | None = None) -> uc.Run:
    columns = {"disease": Column(domain=DISEASES)}
    if order is not None:
        columns["zip"] = Column(kind="ordinal", domain=order)
    schema = uc.Schema(quasi_identifiers=["zip", "age"], sensitive="disease", columns=columns)
    return uc.publish(TABLE, schema, uc.PerturbedGeneralization(k=20, p=0.3), seed=1, policy="none")


def ends(run: uc.Run) -> set[str]:
    return {end for cell in run.release.published().data["zip"].to_pylist() for end in named(cell)}


def test_only_ends_that_are_used_are_published(tmp_path: Path) -> None:
    run = publish()
    out = uc.save(run, tmp_path / "out")
    (claim,) = (
        one for one in json.loads((out / "public" / "release.json").read_text())["guarantees"] if "orders" in one
    )
    assert set(claim["orders"]["zip"]) == ends(run)
    assert len(claim["orders"]["zip"]) < len(set(ZIPS)) / 10
    assert claim["observed"] == ["zip"]
    text = (out / "public" / "release.json").read_text()
    assert not [code for code in set(ZIPS) - ends(run) if code in text]
    assert uc.verify(out / "public").holds


def test_the_verifier_still_finds_cells_that_overlap() -> None:
    run = publish()
    table = run.release.published()
    cells = table.data["zip"].to_pylist()
    cells[0] = cells[1]
    data = table.data.set_column(table.data.column_names.index("zip"), "zip", pa.array(cells))
    ages = data["age"].to_pylist()
    ages[0] = ages[1]
    data = data.set_column(data.column_names.index("age"), "age", pa.array(ages))
    changed = run.release.changed(tables=(type(table)(table.name, table.columns, data),))
    changed.__dict__.pop("_reading", None)
    assert any(finding.name == "disjoint-cells" for finding in uc.verify(changed).failures)


def test_a_declared_order_is_published_whole() -> None:
    order = tuple(f"{code:05d}" for code in range(1000, 9999))
    (claim,) = (one for one in publish(order).release.guarantees if one["name"] == "disjoint-cells")
    assert claim["orders"]["zip"] == list(order)
    assert "observed" not in claim


def test_recipients_count_by_codes_between_the_ends() -> None:
    """As close to the truth as with the list of all postcodes that was published before."""
    found = uc.PerturbedCounts(publish().release).count({"zip": uc.Between(low="03000", high="05999")})
    truth = sum("03000" <= code <= "05999" for code in ZIPS)
    assert float(found.value) == pytest.approx(truth, rel=0.05)
    inner = next(code for code in sorted(set(ZIPS) - ends(publish())))
    assert float(uc.PerturbedCounts(publish().release).count({"zip": inner}).value) > 0
