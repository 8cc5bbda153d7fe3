"""Many publish at the same time on two cores: no wrong result, and no kernel that is half-written."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from tests.soak.small_tables import METHODS, begun, publish, publish_bare, write_table, wrong_with


@pytest.mark.long
@pytest.mark.parametrize(("processes", "cold"), [(2, False), pytest.param(20, True, marks=pytest.mark.soak)])
def test_every_release_is_that_of_its_table(tmp_path: Path, processes: int, cold: bool) -> None:
    """``cold``: on a machine on which nothing is compiled, so that all of them compile the same kernels."""
    env = {**os.environ, **({"NUMBA_CACHE_DIR": str(tmp_path / "kernels")} if cold else {})}
    tables = [write_table(tmp_path / f"{number}.csv", 150 + number, number) for number in range(processes)]
    outs = [tmp_path / f"out-{number}" for number in range(processes)]
    commands = [
        publish(table, out, number % len(METHODS)) if cold else publish_bare(table, out)
        for number, (table, out) in enumerate(zip(tables, outs, strict=True))
    ]
    started = [begun(command, env) for command in commands]
    told = [process.communicate()[1] for process in started]
    assert [process.returncode for process in started] == [0] * processes, told
    assert [wrong_with(out, table) for out, table in zip(outs, tables, strict=True)] == [""] * processes
    assert sorted(os.listdir(tmp_path)) == sorted(
        [*(path.name for path in (*tables, *outs)), *(["kernels"] if cold else [])]
    )
    if cold:  # what they left is read by the next
        done = subprocess.run(
            publish(tables[0], outs[0], 0, "--force"), env=env, capture_output=True, text=True, check=False
        )
        assert (done.returncode, wrong_with(outs[0], tables[0])) == (0, ""), done.stderr
