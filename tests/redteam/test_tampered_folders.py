"""Of the tampered public folders listed here none is called verified, unless it rests on the holder's word alone.

Once 54 of 104 such folders verified with exit code 0: all were hashed anew, and none was signed.
"""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from tampered_claims import CLAIMS
from tampered_files import FILES
from tampering import FORMATS, METHODS, Outcome, Tampering, fault_of, run_verify, save_honestly, tamper

NEEDS_PRIVATE_RUN = {"drawn"}
ALL = [*FILES, *CLAIMS]


def test_the_corpus_is_large_and_every_case_has_a_name_of_its_own() -> None:
    assert len(ALL) >= 100
    assert [name for name, times in Counter(case.name for case in ALL).items() if times > 1] == []
    assert {case.format for case in ALL} == set(FORMATS)
    assert {case.release for case in ALL} >= {"mondrian", "anatomy", "dealt", "drawn", "perturbed"}


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("release", METHODS)
def test_an_honest_folder_verifies(release: str, format_: str) -> None:
    """Or says that nothing can be checked, where all that is promised needs the private run."""
    found = run_verify(save_honestly(release, format_) / "public")
    assert found.code == (6 if release in NEEDS_PRIVATE_RUN else 0), found.output
    assert "problem:" not in found.output


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.name)
def test_no_tampered_folder_is_called_verified(case: Tampering, tmp_path: Path) -> None:
    assert fault_of(case, tamper(case, tmp_path)) == ""


def test_a_tampering_that_goes_unnoticed_is_reported(tmp_path: Path) -> None:
    """The harness itself can fail: a case that changes nothing verifies, which is a fault."""
    nothing = Tampering("nothing", lambda folder: None, said="verified")
    assert "exit code 0" in fault_of(nothing, tamper(nothing, tmp_path))
    assert "crashed" in fault_of(nothing, Outcome(1, "KeyError: 'k'"))
    assert "is not in what was said" in fault_of(nothing, Outcome(4, "something else"))


@pytest.mark.parametrize("case", [case for case in ALL if case.drops_datasheet], ids=lambda case: case.name)
def test_a_datasheet_that_is_left_in_place_tells(case: Tampering, tmp_path: Path) -> None:
    """What would rest on the holder's word contradicts the page that was made of the honest manifest."""
    found = tamper(replace(case, drops_datasheet=False), tmp_path)
    assert found.code == 4
    assert "`datasheet.html` is not the one that belongs to this release" in found.output
