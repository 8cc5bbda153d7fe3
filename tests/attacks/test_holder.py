"""What the holder of several releases sees: the join by person, everybody attacked; from runs, folders and releases."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import undercover as uc
from undercover.errors import DataError, ParameterError

pytestmark = pytest.mark.usefixtures("unjudged")

AGES = [60, 50, 55, 50, 48, 43, 25, 37, 57, 57, 18, 22]
ZIPS = [25434, 27343, 19343, 17234, 28544, 24453, 26211, 23094, 29454, 12845, 15341, 22093]
PAY = ["High"] * 4 + ["Middle"] * 4 + ["Low"] * 4
PEOPLE = pa.table({"age": AGES, "zip": ZIPS, "salary": PAY})


def publish(column: str, cut: int) -> uc.Run:
    """One of the paper's offices: two classes, by a hierarchy of two levels."""
    values = sorted(set(PEOPLE[column].to_pylist()))
    tree = uc.Hierarchy([(str(value), "low" if value < cut else "high") for value in values])
    schema = uc.Schema(quasi_identifiers=[column], sensitive="salary", columns={column: uc.Column(hierarchy=tree)})
    return uc.publish(PEOPLE, schema, uc.Incognito(k=3), seed=1)


@pytest.fixture(scope="module")
def offices() -> list[uc.Run]:
    return [publish("age", 40), publish("zip", 20_000)]


def test_tables_3_and_4_of_the_paper(offices: list[uc.Run]) -> None:
    found = uc.centralized_risk(offices)
    assert (found.people, found.combinations, found.l, found.given_away) == (12, 4, 1, 1)  # Kate
    assert found.left == {1: 1, 2: 6, 3: 5}
    assert found.view().private
    assert found.view().verdict == "bad"


def test_everybody_is_attacked_through_both(offices: list[uc.Run]) -> None:
    found = uc.joint_attack(offices)
    assert found.joined.tolist().count(1) == 1
    assert found.together.truth[10] == 1.0  # Kate: under 40, below 20k
    assert found.newly_certain.sum() >= 1
    # Whoever only joins classes believes what Table 7 says.
    joined = uc.joint_risk(offices)
    by_cells = {tuple(next(iter(c.values())) for c in entry.cells): entry.probabilities for entry in joined.worst}
    as_is = found.together.left == found.joined
    for row in np.flatnonzero(as_is):
        at = ("low" if AGES[row] < 40 else "high", "low" if ZIPS[row] < 20_000 else "high")
        assert found.together.truth[row] == pytest.approx(float(by_cells[at][PAY[row]]))
    assert as_is.sum() > 1


def test_from_folders_with_and_without_their_private_part(offices: list[uc.Run], tmp_path: Path) -> None:
    people = tmp_path / "people.parquet"
    pa.parquet.write_table(PEOPLE, people)
    folders = [uc.save(run, tmp_path / name) for run, name in zip(offices, ("revenue", "census"), strict=True)]
    found = uc.joint_attack(folders, people)
    assert [part.name for part in found.parts] == ["revenue", "census"]
    assert found.together.truth.tolist() == uc.joint_attack(offices).together.truth.tolist()
    mixed = uc.joint_attack([folders[0], folders[1] / "public"], people)
    assert mixed.used == ("revenue",)  # the original, read by the first run's schema, has no zip
    assert uc.centralized_risk(folders, people).given_away == 1
    with pytest.raises(DataError, match="does not know where its original"):
        uc.joint_attack(folders)
    table = folders[1] / "public" / "table.csv"
    table.write_text(table.read_text().replace("High", "Low", 1))
    with pytest.raises(DataError, match="was changed after it was published"):
        uc.joint_attack([folders[0], folders[1] / "public"], people)


def test_releases_of_other_people_are_refused(offices: list[uc.Run]) -> None:
    turned = PEOPLE.take(pa.array(range(11, -1, -1)))
    schema = uc.Schema(quasi_identifiers=["zip"], sensitive="salary")
    other = uc.publish(turned, schema, uc.Mondrian(k=3), seed=1)
    for verb in (uc.joint_attack, uc.centralized_risk):
        with pytest.raises(DataError, match="same people in the same order"):
            verb([offices[0], other])
    with pytest.raises(ParameterError, match="at least two"):
        uc.centralized_risk(offices[:1])
    with pytest.raises(ParameterError, match="at least one run"):
        uc.joint_attack([offices[0].release])
    drawn = uc.publish(
        uc.datasets.census(300), uc.datasets.census_schema(["age"]), uc.PerturbedGeneralization(k=20, p=0.3), seed=1
    )
    with pytest.raises(DataError, match="drawn values"):
        uc.centralized_risk([drawn, drawn])
