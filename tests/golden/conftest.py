"""Where the releases of the recipes stand: one folder for all processes of a session."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that every process of this session shares, and no other session."""
    own = tmp_path_factory.getbasetemp().resolve()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    return shared / "golden"
