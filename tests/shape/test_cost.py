"""What is loaded: next to nothing by `import undercover`, and no maker of tables by a verification."""

import subprocess
import sys
from pathlib import Path

import pytest
from limits import IMPORTED_AT_FIRST, NOT_VERIFYING

import undercover as uc
from undercover.io.release.folder import save

VERIFYING = "import sys, undercover; assert undercover.verify(sys.argv[1]).holds is not False"
METHODS = {
    "generalized": uc.Mondrian(k=5),
    "buckets": uc.Anatomy(l=3),
    "drawn": uc.MutualCover(variant="paper", l=3, delta=0.5),
    "perturbed": uc.PerturbedGeneralization(k=5, p=0.3),
}


def loaded(program: str, *given: str) -> set[str]:
    """Every module a program has loaded when it ends, in an interpreter of its own."""
    telling = f"{program}\nimport sys; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", telling, *given], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def ours(modules: set[str]) -> set[str]:
    return {module for module in modules if module.split(".")[0] == "undercover"}


def not_for_verifying(modules: set[str]) -> list[str]:
    """Which modules make tables or pages, or are compiled."""
    return sorted(
        module
        for module in ours(modules)
        if module.split(".")[1:2] and (module.split(".")[1] in NOT_VERIFYING or "kernels" in module)
    )


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One release of every form, on the disk."""
    made = {}
    schema = uc.datasets.census_schema(["age", "sex"])
    for form, method in METHODS.items():
        run = uc.publish(uc.datasets.census(600, seed=1), schema, method, seed=1)
        made[form] = save(run, tmp_path_factory.mktemp(form) / "release", report="", summary={}, datasheet="")
    return made


def test_importing_loads_next_to_nothing() -> None:
    modules = loaded("import undercover")
    assert ours(modules) == set(IMPORTED_AT_FIRST)
    assert "numpy" not in modules


@pytest.mark.parametrize("form", METHODS)
def test_verifying_a_folder_loads_no_maker(form: str, folders: dict[str, Path]) -> None:
    assert not_for_verifying(loaded(VERIFYING, str(folders[form] / "public"))) == []


COMPARING = """
import sys, undercover
from undercover.verbs import verify as verbs
with_datasheet = verbs._with_datasheet
def watched(found, where, public):
    before = [name for name in sys.modules if name.startswith(("undercover.pages", "undercover.methods"))]
    assert found.findings and not before, before
    return with_datasheet(found, where, public)
verbs._with_datasheet = watched
assert undercover.verify(sys.argv[1]).holds
"""


def test_pages_are_loaded_only_when_every_promise_was_checked(tmp_path: Path) -> None:
    """A datasheet is made anew to be compared (decision 90); nothing that checks promises knows it."""
    schema = uc.datasets.census_schema(["age", "sex"])
    run = uc.publish(uc.datasets.census(600, seed=1), schema, uc.Mondrian(k=5), seed=1, policy="none")
    modules = loaded(COMPARING, str(uc.save(run, tmp_path / "out") / "public"))
    assert "undercover.pages.datasheet_comparison" in modules
    assert not {"numba", "altair", "vl_convert"} & modules


def test_a_maker_that_is_loaded_is_found() -> None:
    found = not_for_verifying(loaded("import undercover.steps.cutting.splits, undercover.forms.kernels"))
    assert {"undercover.steps.cutting.splits", "undercover.forms.kernels"} <= set(found)
