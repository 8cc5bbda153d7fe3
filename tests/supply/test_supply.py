"""What undercover is installed with: locked with hashes, licensed, and a wheel that anybody can make again."""

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from supply.licences import ALLOWED, LOCKS, PAGE, PIN, ROOT, SHIPPED, licence, page, pinned

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
EXTRAS = PROJECT["project"]["optional-dependencies"]
GROUPS = PROJECT["dependency-groups"]
ASKED = {
    "undercover.txt": [
        *PROJECT["project"]["dependencies"],
        *(one for name in ("sql", "analysis", "sign", "office", "web") for one in EXTRAS[name]),
    ],
    "dev.txt": [one for name in ("dev", "docs") for one in GROUPS[name] if isinstance(one, str)],
    "spark.txt": GROUPS["spark"],
    "build.txt": [*GROUPS["build"], *PROJECT["build-system"]["requires"]],
}


def test_there_is_a_lock_for_everything_that_is_asked_for() -> None:
    assert {path.name for path in LOCKS.iterdir()} == set(ASKED)
    assert set(GROUPS) == {"build", "dev", "docs", "spark"}
    assert set(EXTRAS) == {"sql", "analysis", "sign", "office", "web", "spark", "all"}
    assert EXTRAS["spark"] == GROUPS["spark"]


@pytest.mark.parametrize("lock", ASKED)
def test_what_is_asked_for_is_locked_in_a_version_that_will_do(lock: str) -> None:
    """Or somebody has changed pyproject.toml: ``make lock``."""
    found = pinned(lock)
    for asked in map(Requirement, ASKED[lock]):
        versions = found.get(canonicalize_name(asked.name), [])
        assert versions, f"{asked} is not in locks/{lock}: make lock"
        assert all(asked.specifier.contains(one) for one in versions), f"{asked} is locked as {versions}: make lock"


@pytest.mark.parametrize("lock", ASKED)
def test_every_version_has_hashes_and_names_no_place(lock: str) -> None:
    text = (LOCKS / lock).read_text("utf-8")
    entries = re.split(r"^(?=[A-Za-z])", text, flags=re.MULTILINE)[1:]
    assert len(entries) == len(PIN.findall(text)) > 5
    assert all("--hash=sha256:" in entry for entry in entries)
    assert not re.search(r"://|^--(?!hash)", text, re.MULTILINE)


def test_locks_agree() -> None:
    seen: dict[str, list[str]] = {}
    for lock in ASKED:
        for name, versions in pinned(lock).items():
            assert seen.setdefault(name, versions) == versions, f"{name} in locks/{lock}: make lock"


def test_licences_are_listed_and_ask_for_nothing() -> None:
    """Or ``make licences``, after a look at what is new."""
    assert PAGE.read_text("utf-8") == page()
    said = [*map(licence, pinned("undercover.txt")), *(one for _, one, _ in SHIPPED)]
    assert not {word for one in said for word in re.split(r" (?:AND|OR|WITH) ", one)} - ALLOWED


def test_what_is_shipped_has_its_licence_beside_it() -> None:
    vendor = ROOT / "src" / "undercover" / "web" / "static" / "vendor"
    scripts = sorted(path.name for path in vendor.glob("*.js"))
    assert len(scripts) == len(SHIPPED)
    for script in scripts:
        assert list(vendor.glob(f"{re.match(r'.*?-[0-9.]+[0-9]', script)[0]}*LICENSE"))  # type: ignore[index]


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Made here, and from files that were copied elsewhere just now."""
    copy = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT / "src", copy / "src", copy_function=shutil.copyfile)
    for name in ("pyproject.toml", "README.md", "LICENSE", ".gitignore"):
        shutil.copyfile(ROOT / name, copy / name)
    made = []
    for source in (ROOT, copy):
        place = tmp_path_factory.mktemp("wheel")
        build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(place)]
        at = {"SOURCE_DATE_EPOCH": "1000000000", "PATH": ""}
        subprocess.run(build, cwd=source, env=at, check=True, capture_output=True)
        made += place.glob("*.whl")
    return made


def test_the_wheel_is_the_same_each_time(wheels: list[Path]) -> None:
    first, second = wheels
    assert first.name == second.name
    assert first.read_bytes() == second.read_bytes()


def test_the_wheel_holds_the_package_and_nothing_else(wheels: list[Path]) -> None:
    names = zipfile.ZipFile(wheels[0]).namelist()
    version = PROJECT["tool"]["hatch"]["version"]["path"]
    assert version.removeprefix("src/") in names
    assert {name.split("/")[0] for name in names} == {"undercover", names[-1].split("/")[0]}
    assert not [name for name in names if re.search(r"__pycache__|\.nb[ic]$|\.pyc$|/tests?/", name)]
    assert any(name.endswith("/licenses/LICENSE") for name in names)
    assert any(name.endswith("py.typed") for name in names)
