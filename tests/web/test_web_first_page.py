"""The first page is there at once: it loads nothing that reads tables, and the other pages come while it is shown."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from serving import ADDRESS, beside
from starlette.testclient import TestClient

from undercover.web.app import create_app
from undercover.web.later import Loading
from undercover.web.settings import Settings

TABLES = {"numpy", "pyarrow", "narwhals"}
HEAVY = {"numba", "llvmlite", "pandas", "polars", "altair", "duckdb", "vl_convert", "scipy", "sklearn"}
FIRST = """
from pathlib import Path
from undercover.web.serve import create_app
from undercover.web.settings import Settings
import undercover.cli.serve, undercover.cli.main
app = create_app(Settings(workspace=Path({folder!r}), port=1), later=True)
"""
OTHERS = "from undercover.web.app import _load; _load(app, prepared=False)"
TOLD = "import sys; print(*sorted({name.split('.')[0] for name in sys.modules}))"


def loaded_by(*lines: str) -> set[str]:
    code = "\n".join([*lines, TOLD])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    return set(done.stdout.split())


def test_what_a_server_loads(tmp_path: Path) -> None:
    begin = FIRST.format(folder=str(tmp_path / "w"))
    assert not loaded_by(begin) & (TABLES | HEAVY)
    assert not loaded_by(begin, OTHERS) & HEAVY


def test_other_pages_are_waited_for(tmp_path: Path) -> None:
    app = create_app(Settings(workspace=tmp_path, port=1), later=True)
    client = TestClient(app, base_url=ADDRESS)
    assert client.get("/enter").status_code == 401
    assert client.get("/api/tables").status_code == 401
    assert "/tables/{key}" in " ".join(client.get("/api/openapi.json").json()["paths"])


def test_a_bug_in_what_is_loaded_is_told() -> None:
    def broken() -> None:
        raise ImportError("a bug")

    loading = Loading(broken)
    for _ in range(2):
        with pytest.raises(ImportError, match="a bug"):
            beside(loading.wait())
