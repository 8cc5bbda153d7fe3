"""What only some systems have stands where it is guarded, and chance comes from one place."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from planting import planted
from sources import PACKAGE

ONLY_SOME_HAVE = {"fcntl", "grp", "msvcrt", "pty", "pwd", "resource", "termios", "winreg"}
NAMES = {
    "os": "fork forkpty getuid geteuid getgid setuid setgid pread pwrite sysconf sched_getaffinity killpg nice sync "
    "statvfs O_NOFOLLOW O_DIRECTORY",
    "signal": "SIGHUP SIGKILL SIGPIPE SIGALRM SIGCHLD SIGUSR1 SIGUSR2 SIGQUIT alarm pause sigwait pthread_sigmask",
}
PLACES = ("/tmp", "/proc", "/dev", "/sys", "/var", "/etc", "/home", "C:")
GUARDED = {
    "system.py": {"fcntl", "msvcrt"},  # by sys.platform
    "compiled/kept.py": {"os.geteuid"},  # by hasattr
    "ending.py": {"signal.SIGCHLD"},  # by hasattr
    "memory.py": {"os.sysconf", "os.sched_getaffinity", "/proc/meminfo", "/sys/fs/cgroup", "/sys/fs/cgroup/memory"},
    "pages/chart_child.py": {"resource", "signal.SIGKILL", "signal.pthread_sigmask"},  # by sys.platform and hasattr
    "studies/compare/bench.py": {"/proc/self/clear_refs", "/proc/self/status"},  # where there are such files
    "testing/forged.py": {"/dev/null"},  # what a link in a forged release leads to
    "web/jobs/worker.py": {"signal.SIGKILL", "signal.SIGCHLD"},  # by sys.platform, by hasattr
}
"""What may stand in which file, and by what it is guarded there."""

SOURCE = "randomness.py"
MAKERS = ("methods", "steps", "engines", "compiled", "verbs", "model")
DRAWS = {"Philox", "Generator", "default_rng"}


def _dotted(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [name.name for name in node.names]
    return [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []


def _parsed(root: Path, wanted: re.Pattern[str]) -> Iterator[tuple[str, ast.Module]]:
    """The files in which a word stands at all, parsed; most need not be."""
    for path in sorted(root.rglob("*.py")):
        text = path.read_text("utf-8")
        if wanted.search(text):
            yield path.relative_to(root).as_posix(), ast.parse(text)


def unportable(root: Path = PACKAGE) -> list[str]:
    """Uses of what only some systems have, by file, that nobody said to be guarded."""
    some = {f"{module}.{name}" for module, names in NAMES.items() for name in names.split()}
    modules = "|".join(ONLY_SOME_HAVE)
    words = "|".join([rf"(?:import|from) (?:{modules})", *map(re.escape, some), *(f"[\"']{one}" for one in PLACES)])
    found = []
    for file, tree in _parsed(root, re.compile(words)):
        for node in ast.walk(tree):
            used = {name for name in _imported(node) if name in ONLY_SOME_HAVE} | ({_dotted(node)} & some)
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith(PLACES):
                used |= {node.value} if node.value.partition("/")[2].count(" ") == 0 else set()
            found += [f"{file}:{getattr(node, 'lineno', 0)} {name}" for name in used - GUARDED.get(file, set())]
    return found


def by_chance(root: Path = PACKAGE) -> list[str]:
    """Chance that is not handed over: of a module, of a generator without a seed, or in what makes releases."""
    found = []
    for file, tree in _parsed(root, re.compile(r"random\b")):
        for node in ast.walk(tree):
            name = _dotted(node.func) if isinstance(node, ast.Call) else _dotted(node)
            called = isinstance(node, ast.Call)
            drawn = name.removeprefix("np.random.") if name.startswith("np.random.") else ""
            wrong = (
                "random" in _imported(node)
                or (drawn and drawn not in DRAWS)
                or (called and drawn == "default_rng" and not node.args)  # type: ignore[attr-defined]
                or (called and drawn and file.startswith(MAKERS))
            )
            if wrong and file != SOURCE:
                found.append(f"{file}:{getattr(node, 'lineno', 0)}")
    return found


def test_what_only_some_systems_have_is_guarded() -> None:
    assert unportable() == []


@pytest.mark.parametrize(
    "text",
    [
        "import fcntl\n",
        "def f():\n    from pwd import getpwuid\n",
        "import os\nos.fork()\n",
        "import signal\nsignal.signal(signal.SIGHUP, print)\n",
        "PLACE = '/tmp/x'\n",
    ],
)
def test_what_is_not_guarded_is_found(text: str, tmp_path: Path) -> None:
    assert len(unportable(planted(tmp_path, {"io/x.py": text, "memory.py": "import os\nos.sysconf('a')\n"}))) == 1


def test_chance_comes_from_one_place() -> None:
    assert by_chance() == []


@pytest.mark.parametrize(
    "text",
    [
        "import random\n",
        "from random import shuffle\n",
        "import numpy as np\nx = np.random.rand(3)\n",
        "import numpy as np\nnp.random.seed(3)\n",
        "import numpy as np\ndraw = np.random.default_rng()\n",
    ],
)
def test_chance_from_elsewhere_is_found(text: str, tmp_path: Path) -> None:
    assert by_chance(planted(tmp_path, {"io/x.py": text}))


def test_what_makes_releases_draws_nothing_of_its_own(tmp_path: Path) -> None:
    text = "import numpy as np\ndraw = np.random.default_rng(0)\n"
    assert by_chance(planted(tmp_path, {"methods/x.py": text, "attacks/x.py": text})) == ["methods/x.py:2"]
