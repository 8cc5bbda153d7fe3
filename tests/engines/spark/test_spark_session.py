"""A session of ours is nobody else's: Java, sockets, temporary files, logs."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from short_java import RUNS_SHORTLY

from undercover.engines.spark import session as sessions
from undercover.errors import MissingExtraError

ALONE = """
import sys
import pyarrow as pa
import undercover as uc
from undercover.engines.spark.engine import SparkEngine

engine = SparkEngine(threads=1, parts=2)
data = pa.table({"age": [71717 + i // 4 for i in range(40)], "ill": [f"Xqill-{i % 5}" for i in range(40)]})
frame = engine.running.createDataFrame(data)
schema = uc.Schema(quasi_identifiers=["age"], sensitive="ill")
try:
    uc.publish(frame, schema, uc.Anatomy(l=7), engine=engine)
except uc.errors.UnreachableError:
    print("refused")
told = engine.running.sparkContext
print(told._jvm.System.getProperty("java.version"), told.getConf().get("spark.local.dir"))
"""


pytestmark = pytest.mark.long


def test_a_session_with_the_java_of_a_package_leaves_nothing_behind(tmp_path: Path) -> None:
    home = tmp_path / "tmp"
    home.mkdir()
    kept = {name: value for name, value in os.environ.items() if name not in ("JAVA_HOME", "PATH")}
    shell = tmp_path / "bin"
    shell.mkdir()
    for name in ("bash", "sh", "dirname", "cat", "env", "uname", "ps"):
        for folder in ("/bin", "/usr/bin"):
            if Path(folder, name).exists() and not (shell / name).exists():
                (shell / name).symlink_to(Path(folder, name))
    environment = {**kept, "PATH": str(shell), "TMPDIR": str(home), "PYTHONPATH": os.pathsep.join(sys.path)}
    environment["JDK_JAVA_OPTIONS"] = RUNS_SHORTLY
    done = subprocess.run([sys.executable, "-c", ALONE], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    refused, (version, folder) = done.stdout.split()[0], done.stdout.split()[1:]
    assert refused == "refused"
    assert int(version.split(".")[0]) >= sessions.OLDEST
    assert Path(folder).parent == home
    assert list(home.iterdir()) == []
    said = done.stdout + done.stderr
    assert "Xqill" not in said
    assert "7171" not in said


def listening(process: int) -> list[str]:
    """The addresses, in hexadecimal, on which a process and those it started listen."""
    family = [process]
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            parent = int(Path("/proc", pid, "stat").read_text().rpartition(")")[2].split()[1])
        except FileNotFoundError:
            continue
        if parent in family and int(pid) not in family:
            family.append(int(pid))
    own = set()
    for pid in family:
        for handle in Path("/proc", str(pid), "fd").iterdir():
            try:
                own.add(os.readlink(handle))
            except FileNotFoundError:
                continue
    found = []
    for kind in ("tcp", "tcp6"):
        for line in Path("/proc/net", kind).read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in own:
                found.append(fields[1].split(":")[0])
    return found


def test_nobody_outside_can_reach_the_session(session: Any) -> None:
    here = {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}
    found = listening(os.getpid())
    assert found
    assert set(found) <= here


def test_its_folder_is_its_owners(session: Any) -> None:
    folder = Path(session.sparkContext.getConf().get("spark.local.dir"))
    assert folder.stat().st_mode & 0o777 == 0o700
    assert session.conf.get("spark.eventLog.enabled") == "false"
    assert session.sparkContext.uiWebUrl is None


def test_what_is_missing_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sessions, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"The Spark engine needs `pyspark`.*pip install 'undercover\[spark\]'"):
        sessions.session_of(1)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "none"))
    with pytest.raises(MissingExtraError, match="needs `Java 17 or later`"):
        sessions.java_home(tmp_path)


def test_the_launcher_leaves_one_argument_out(tmp_path: Path) -> None:
    echo = tmp_path / "my java"
    echo.write_text('#!/bin/sh\nfor one in "$@"; do echo "$one"; done\n')
    echo.chmod(0o700)
    home = sessions.launcher(tmp_path, echo)
    asked = ["-Xmx1g", "--add-modules=jdk.incubator.vector", "-cp", "a b:c", "Main"]
    done = subprocess.run([home / "bin" / "java", *asked], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["-Xmx1g", "-cp", "a b:c", "Main"]
