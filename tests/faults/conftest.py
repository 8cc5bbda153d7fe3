"""The command line in this process, as the tests of commands have it, and a small run that is made once."""

from __future__ import annotations

import pyarrow.csv
import pytest
from tests.cli.conftest import undercover as undercover

import undercover as uc


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> uc.Run:
    """A dozen people in threes, which may be published."""
    place = tmp_path_factory.mktemp("table") / "people.csv"
    people = {"name": [f"Ann{row}" for row in range(12)], "age": list(range(12)), "disease": ["a", "b", "c"] * 4}
    pyarrow.csv.write_csv(pyarrow.table(people), place)
    schema = uc.Schema(quasi_identifiers=["age"], sensitive="disease", identifiers=["name"])
    return uc.publish(place, schema, uc.Mondrian(k=3), policy="none")
