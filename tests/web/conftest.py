"""A server in this process, somebody at its desk, somebody at another, and a small table."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow.csv
import pytest
from fastapi import FastAPI
from releasing import Released, released
from serving import at, desk_of, serving
from starlette.testclient import TestClient

import undercover as uc


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    """Somebody at the desk "own"; jobs run."""
    with serving(tmp_path / "workspace") as client:
        yield client


@pytest.fixture
def app(client: TestClient) -> FastAPI:
    """The server of ``client``."""
    return client.app  # type: ignore[return-value]


@pytest.fixture
def other(client: TestClient) -> TestClient:
    """Somebody at another desk of the same server."""
    return at(client, "other")


@pytest.fixture(scope="session")
def census_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """300 people of the built-in census as a CSV file."""
    place = tmp_path_factory.mktemp("census") / "census.csv"
    pyarrow.csv.write_csv(uc.datasets.census(300, seed=5), place)
    return place


@pytest.fixture(scope="session")
def holder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """Somebody at the desk "own" who has releases already; no job is ever run here."""
    with serving(tmp_path_factory.mktemp("holder") / "workspace", workers=0) as client:
        yield client


@pytest.fixture(scope="session")
def made(holder: TestClient) -> Released:
    """The releases of ``holder``; who changes one works on a copy of its table."""
    with pytest.MonkeyPatch.context() as patched:
        return released(desk_of(holder), patched)
