"""The cells of published tables are read by forms and files and by whoever makes them; the two halves share no code."""

from pathlib import Path

import pytest
from halves import cells_read, making, shared, shared_functions
from limits import LIMITS
from planting import planted

METHOD = "from undercover.steps.cutting.partition import cut\nfrom undercover.guarantees import KAnonymity\n"
STEP = "def cut(published):\n    return published.data\n"


def test_the_cells_of_published_tables_are_read_in_few_rooms() -> None:
    assert cells_read() == []


@pytest.mark.parametrize(
    "leak",
    [
        "def f(release):\n    return release.published().data.column('age')\n",
        "def f(table):\n    return table.data\n",
        "class Sums:\n    def f(self):\n        return self._home.data.column('age')\n",
    ],
)
def test_a_room_that_reads_cells_is_found(leak: str, tmp_path: Path) -> None:
    found = cells_read(planted(tmp_path, {"analysis/sums.py": leak, "forms/classes.py": leak, "io/plain.py": leak}))
    assert [line.split(":")[0] for line in found] == ["analysis/sums.py"]


def test_inputs_and_whoever_makes_tables_are_not_found(tmp_path: Path) -> None:
    files = {
        "methods/mondrian/method.py": METHOD,
        "steps/cutting/partition.py": STEP,
        "verbs/publish.py": "def f(given):\n    return given.data, read('a.csv').data\n",
        "verbs/apply.py": "def f(table: Input):\n    return table.data\n",
    }
    assert cells_read(planted(tmp_path, files)) == []


def test_a_methods_own_attack_does_not_make_tables(tmp_path: Path) -> None:
    attack = "def run(case):\n    return case.release.published().data\n"
    files = {"methods/mondrian/method.py": METHOD, "methods/mondrian/minimality/attack.py": attack}
    root = planted(tmp_path, files)
    assert making(root) == {"undercover.methods.mondrian.method"}
    assert len(cells_read(root)) == 1


def test_a_method_shares_no_function_with_its_verification() -> None:
    assert LIMITS["shared"].met(len(shared_functions())), "\n".join(shared())


def test_a_shared_function_is_found_through_a_step(tmp_path: Path) -> None:
    step = "from undercover.guarantees.joint.tables import together\n"
    root = planted(tmp_path, {"methods/mondrian/method.py": METHOD, "steps/cutting/partition.py": step})
    assert shared(root) == ["steps/cutting/partition.py: together of undercover.guarantees.joint.tables"]
