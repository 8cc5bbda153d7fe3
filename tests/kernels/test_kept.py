"""Compiled kernels on the disk: what is torn, old, of another machine or of somebody else is compiled, never run."""

import errno
import importlib.util
import os
import subprocess
import sys
import tempfile
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from undercover.compiled import kept

KERNEL = """
from undercover.compiled.jit import kernel
from parts import LIMIT, more

@kernel
def counted(x):
    return more(x) if x < LIMIT else -1
"""
PART = """
from undercover.compiled.jit import internal

LIMIT = 100

@internal
def more(x):
    return x + 1
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(kept, "KEPT", kept.Kept())
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "counting.py").write_text(KERNEL)
    (tmp_path / "parts.py").write_text(PART)
    yield tmp_path
    for name in ("parts", "counting"):
        sys.modules.pop(name, None)


def loaded(package: Path) -> Any:
    """The kernel as a new process would have it."""
    for name in ("parts", "counting"):
        spec = importlib.util.spec_from_file_location(name, package / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module: ModuleType = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return module.counted


def files(package: Path) -> list[Path]:
    return sorted((package / "__pycache__").glob("*"))


def test_it_is_compiled_once_and_no_lock_stays(package: Path) -> None:
    assert loaded(package)(1) == 2
    again = loaded(package)
    assert again(1) == 2
    assert again.stats.cache_hits
    assert [file.suffix for file in files(package)] == [".nbc"]
    assert kept.KEPT.said() == ""


@pytest.mark.parametrize(("old", "new", "answer"), [("x + 1", "x + 2", 3), ("LIMIT = 100", "LIMIT = 1", -1)])
def test_what_is_compiled_into_it_is_looked_at(package: Path, old: str, new: str, answer: int) -> None:
    """Numba's own cache does not notice that another file has changed."""
    assert loaded(package)(1) == 2
    (package / "parts.py").write_text(PART.replace(old, new))
    changed = loaded(package)
    assert changed(1) == answer
    assert not changed.stats.cache_hits
    assert len(files(package)) == 1  # the old one is gone


def torn(content: bytes) -> bytes:
    return content[: len(content) // 2]


def flipped(content: bytes) -> bytes:
    return content[:-1] + bytes([content[-1] ^ 1])


def renamed(content: bytes) -> bytes:
    return content.replace(b"counting.counted", b"counting.another", 1)


@pytest.mark.parametrize("spoilt", [torn, flipped, renamed, lambda content: b""])
def test_a_spoilt_file_is_compiled_again(package: Path, spoilt: Any) -> None:
    loaded(package)(1)
    (file,) = files(package)
    whole = file.read_bytes()
    file.write_bytes(spoilt(whole))
    again = loaded(package)
    assert again(1) == 2
    assert not again.stats.cache_hits
    assert file.read_bytes().partition(b"\n")[0] == whole.partition(b"\n")[0]  # and is mended


def test_another_processor_is_another_kernel(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = loaded(package)
    here = counted._cache._names(counted.targetctx)
    codegen = counted.targetctx.codegen()
    monkeypatch.setattr(type(codegen), "magic_tuple", lambda self: ("x86_64", "another", ""))
    assert counted._cache._names(counted.targetctx) != here


def test_compiled_in_another_way_it_is_another_kernel(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = loaded(package)
    here = counted._cache._names(counted.targetctx)
    assert all((Path(kept.__file__).parent / name).exists() for name in kept._HOW)
    monkeypatch.setattr(kept, "_how", lambda: "without counting")
    assert counted._cache._names(counted.targetctx) != here


def test_what_somebody_else_wrote_is_not_read(package: Path) -> None:
    loaded(package)(1)
    (file,) = files(package)
    assert kept._Place(file.parent, frozenset({os.geteuid()})).read(file.name)
    assert kept._Place(file.parent, frozenset({os.geteuid() + 1})).read(file.name) is None
    link = file.with_name("link.nbc")
    link.symlink_to(file)
    assert kept._Place(file.parent, frozenset({os.geteuid()})).read(link.name) is None


def test_a_full_disk_on_the_way(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*given: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(kept._Place, "write", full)
    assert loaded(package)(1) == 2
    assert kept.KEPT.said().startswith("the compiled loops could not be kept (No space left on device)")
    assert files(package) == []


def test_one_compiles_while_the_other_waits(package: Path) -> None:
    first, second = loaded(package), loaded(package)
    context, signature = first.targetctx, (importlib.import_module("numba").int64,)
    assert first._cache.load_overload(signature, context) is None  # and compiles from now on
    found: list[Any] = []
    waiting = threading.Thread(target=lambda: found.append(second._cache.load_overload(signature, context)))
    waiting.start()
    waiting.join(0.2)
    assert waiting.is_alive()
    third = loaded(package)
    third._cache._waited = lambda name: False
    third(1)
    first._cache._unlock(first._cache._name(signature, context))
    waiting.join(30)
    assert found[0] is not None


# Whoever is root drops that; whoever is not has had the rights of the folder taken away. What Python itself needs is
# loaded before, by compiling the same elsewhere.
NOBODY = textwrap.dedent(
    """
    import importlib, os, stat, sys, tempfile
    from undercover.compiled import kept
    here, package, hers, prepared = sys.argv[1:]

    def counted(folder):
        sys.path[0] = folder
        for name in ("counting", "parts"):
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        return importlib.import_module("counting").counted

    assert counted(here)(1) == 2
    if os.geteuid() == 0:
        os.setgroups([]), os.setgid(65534), os.setuid(65534)
    os.environ["HOME"] = "/nonexistent"
    os.environ.pop("XDG_CACHE_HOME", None)

    kept.KEPT = kept.Kept()
    tempfile.tempdir = prepared  # there is a folder of the right name, but others may write to it
    assert counted(package)(1) == 2
    assert "not a folder of your own" in kept.KEPT.nowhere, kept.KEPT

    kept.KEPT = kept.Kept()
    tempfile.tempdir = hers
    assert counted(package)(1) == 2
    own = kept.KEPT.temporary
    assert own is not None and str(own) == os.path.join(hers, f"undercover-{os.geteuid()}"), kept.KEPT
    found = os.stat(own)
    assert (found.st_uid, stat.S_IMODE(found.st_mode)) == (os.geteuid(), 0o700)
    again = counted(package)
    assert again(1) == 2 and again.stats.cache_hits
    print(kept.KEPT.said())
    """
)


def test_nobody_with_a_read_only_package_and_no_home() -> None:
    user = 65534 if os.geteuid() == 0 else os.geteuid()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    with tempfile.TemporaryDirectory() as place:  # not where pytest keeps nobody out
        here, package, hers, prepared = folders = [
            Path(place, name) for name in ("here", "package", "hers", "prepared")
        ]
        for folder in (*folders, prepared / f"undercover-{user}"):
            folder.mkdir()
        for folder in (here, package):
            (folder / "counting.py").write_text(KERNEL)
            (folder / "parts.py").write_text(PART)
        for folder, mode in ((hers, 0o1777), (prepared, 0o1777), (prepared / f"undercover-{user}", 0o777)):
            folder.chmod(mode)
        Path(place).chmod(0o755)
        package.chmod(0o555)
        command = [sys.executable, "-B", "-c", NOBODY, *map(str, folders)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
        package.chmod(0o755)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"the compiled loops are kept in {hers}/undercover-{user}: neither the folder")
