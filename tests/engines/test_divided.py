"""Methods on parts: what is promised holds, what is decided once is the same, and a part that fails is no secret."""

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import undercover as uc
from undercover.engines.divided import anonymized
from undercover.engines.joining import joined
from undercover.errors import ParameterError, UnreachableError
from undercover.model.cells import read_interval, read_set
from undercover.model.groups import Groups
from undercover.model.release import NOT_SAFE
from undercover.model.run import Draft
from undercover.randomness import Randomness
from undercover.verbs.publish import publish_table

ILLS = tuple(f"ill {number}" for number in range(8))
TOWNS = uc.Hierarchy([(f"town {i}", f"land {i % 3}", "*") for i in range(9)])
SCHEMA = uc.Schema(
    quasi_identifiers=["age", "job", "town"],
    sensitive="ill",
    missing="category",
    columns={"ill": uc.Column(domain=ILLS), "town": uc.Column(hierarchy=TOWNS)},
)


def people(n: int = 900) -> pa.Table:
    draw = np.random.default_rng(62)
    ages: list[Any] = draw.integers(18, 90, n).tolist()
    ages[5] = None
    return pa.table(
        {
            "age": pa.array(ages, pa.int64()),
            "job": [f"job {i}" for i in np.minimum(draw.integers(0, 12, n), draw.integers(0, 12, n))],
            "town": [f"town {i}" for i in draw.integers(0, 9, n)],
            "ill": [ILLS[i] for i in draw.integers(0, 8, n)],
        }
    )


@pytest.fixture(scope="module")
def table() -> uc.Table:
    return uc.Table.from_arrow(people(), SCHEMA)


def made(table: uc.Table, method: Any, parts: int = 4) -> uc.Run:
    engine = uc.LocalEngine(threads=1, parts=parts)
    return publish_table(table, method, engine=engine, randomness=Randomness(7))


METHODS = {
    "boxes": uc.Mondrian(k=5),
    "boxes of l values": uc.Mondrian(k=5, l=2),
    "regions": uc.Mondrian(k=5, recoding="regions"),
    "median regions": uc.Mondrian(k=5, cut="median", recoding="regions"),
    "buckets": uc.Anatomy(l=3),
    "dealt": uc.Streamliner(l=3),
    "boxes and buckets": uc.CrossBucket(k=4, l=3, joined=True),
    "layers": uc.MutualCover(delta="1/4", l=3),
    "blocks": uc.MutualCover(delta="1/4", variant="blocks"),
    "drawn": uc.MutualCover(delta="1/4", l=4, variant="paper"),
    "perturbed": uc.PerturbedGeneralization(k=5, p=0.3),
    "levels": uc.Incognito(k=5, suppression=0.1),
    "levels beside others": uc.NonCentralized(l=2),
}


@pytest.mark.parametrize("name", METHODS)
def test_what_is_promised_holds_and_is_kept_by_the_run(name: str, table: uc.Table) -> None:
    run = made(table, METHODS[name])
    assert run.diagnostics["parts"] == {"asked": 4, "made": 4, "refused": 0}
    assert run.release.parameters["used"]["parts"] == 4
    assert run.release.algorithm_safe == METHODS[name].algorithm_safe
    found = uc.verify(run, original=people())
    assert found.holds, found
    assert len(run.groups.labels) + run.release.suppressed_rows == 900
    if run.order is not None:
        assert sorted(run.order.tolist()) == list(range(len(run.groups.labels)))
        main = run.release.tables[0]
        as_they_are = [column.name for column in main.columns if column.form == "value" and column.role != "structure"]
        for column in ["ill"] if "ill" in as_they_are else as_they_are:  # beside the values, others may have moved
            published, own = main.data[column].to_pylist(), people()[column].to_pylist()
            assert [str(own[run.rows[row]]) for row in run.order] == list(map(str, published))


@pytest.mark.parametrize("name", ["regions", "median regions", "perturbed"])
def test_regions_of_parts_do_not_overlap(name: str, table: uc.Table) -> None:
    names = SCHEMA.quasi_identifiers
    rows = {tuple(row.values()) for row in made(table, METHODS[name]).release.tables[0].data.select(names).to_pylist()}
    times = np.zeros(900, dtype=int)
    for row in rows:
        inside = [np.isin(table[one].codes, covered(table[one], cell)) for one, cell in zip(names, row, strict=True)]
        times += np.logical_and.reduce(inside)
    assert times.tolist() == [1] * 900


def covered(column: Any, cell: str) -> list[int]:
    """The codes a cell stands for, read plainly."""
    labels = column.domain.labels
    if column.name == "town":
        return [code for code, town in enumerate(labels) if cell in TOWNS.rows[TOWNS.leaf_index[town]]]
    if cell == "*":
        return list(range(len(labels)))
    if cell.startswith("["):
        low, high = map(labels.index, read_interval(cell))
        return list(range(low, high + 1))
    return [labels.index(member) for member in read_set(cell)] if cell.startswith("{") else [labels.index(cell)]


@pytest.mark.parametrize(
    "method",
    [
        uc.Incognito(k=5),
        uc.Incognito(k=4, l=2, suppression=0.2),
        uc.Incognito(k=5, choose="dm"),
        uc.NonCentralized(l=2),
    ],
    ids=["k", "l, suppressing", "by dm", "beside others"],
)
def test_levels_that_are_decided_once_give_the_same_rows(method: Any, table: uc.Table) -> None:
    one, four = made(table, method, 1), made(table, method, 4)
    rows = [sorted(map(str, run.release.tables[0].data.to_pylist())) for run in (one, four)]
    assert rows[0] == rows[1]
    assert {**four.diagnostics, "parts": 0} == {**one.diagnostics, "parts": 0}
    assert one.release.suppressed_rows == four.release.suppressed_rows
    shown = four.release.tables[0].data.select(["age", "job", "town"]).to_pylist()
    ends = [n for n, (row, after) in enumerate(pairwise(shown)) if row != after]
    assert len(ends) + 1 == len({tuple(row.values()) for row in shown})  # rows of a class stand together


@dataclass(frozen=True, kw_only=True)
class Picky(uc.Mondrian):
    """Refuses tables of fewer rows than it likes."""

    likes: int = 0
    by_values: bool = True

    def anonymize(self, table: uc.Table, **how: Any) -> Draft:
        if table.n_rows < self.likes:
            raise UnreachableError("too few", by_values=self.by_values)
        return super().anonymize(table, **how)


@pytest.mark.parametrize("by_values", [True, False])
def test_a_part_that_is_refused_makes_the_whole_run_fall_back(by_values: bool, table: uc.Table) -> None:
    run = made(table, Picky(k=5, likes=300, by_values=by_values), 16)
    assert run.diagnostics["parts"] == {"asked": 16, "made": 2, "refused": 3}
    assert run.release.parameters["used"]["parts"] == 2
    assert any("2 parts in place of 16: 3 cuts left a part" in warning for warning in run.warnings)
    assert run.release.algorithm_safe is not by_values
    assert run.release.corruption_robust is not by_values
    assert (NOT_SAFE in run.release.warnings) is by_values
    assert not any("parts" in warning for warning in run.release.warnings)


def test_down_to_the_whole_table_whose_refusal_is_the_answer(table: uc.Table) -> None:
    run = made(table, Picky(k=5, likes=900), 4)
    assert run.diagnostics["parts"] == {"asked": 4, "made": 1, "refused": 2}
    assert "used" not in run.release.parameters
    with pytest.raises(UnreachableError, match="only 900 rows"):
        made(table, uc.Mondrian(k=1000))


def test_a_part_that_is_not_close_to_the_whole_is_refused() -> None:
    rows = pa.table({"age": [n % 40 for n in range(400)], "ill": [ILLS[n % 40 // 10] for n in range(400)]})
    table = uc.Table.from_arrow(rows, uc.Schema(quasi_identifiers=["age"], sensitive="ill"))
    run = made(table, uc.Mondrian(k=5, t=0.6), 4)
    assert run.diagnostics["parts"] == {"asked": 4, "made": 2, "refused": 1}
    assert uc.verify(run.release).holds


@pytest.mark.parametrize(
    "method",
    [
        uc.PerturbedGeneralization(k=5, p=0.3, recoding="specialize"),
        uc.MutualCover(delta="1/4", l=4, variant="paper", keep_order=True),
    ],
    ids=lambda method: method.name,
)
def test_a_method_that_must_see_the_whole_table_does(method: Any, table: uc.Table) -> None:
    one, four = made(table, method, 1), made(table, method, 4)
    assert one.release.tables[0].data == four.release.tables[0].data
    assert any("1 part in place of 4" in warning for warning in four.warnings)


def test_people_with_several_rows_are_in_no_cube() -> None:
    data = people().append_column("who", pa.array([n // 2 for n in range(900)]))
    table = uc.Table.from_arrow(data, replace(SCHEMA, unit="who"))
    assert made(table, uc.Incognito(k=4)).diagnostics["parts"]["made"] == 1
    assert made(table, uc.Mondrian(k=4)).diagnostics["parts"]["made"] == 4
    assert made(table, uc.Anatomy(l=3)).diagnostics["parts"]["made"] == 4


def test_p_is_that_of_the_smallest_cell_there_may_be(table: uc.Table) -> None:
    asked = uc.PerturbedGeneralization(k=5, growth=0.3)
    one, four = made(table, asked, 1), made(table, asked, 4)
    keep = [run.release.parameters["used"]["p"] for run in (one, four)]
    assert keep[1] <= keep[0]
    assert four.diagnostics["p"] == pytest.approx(keep[1])


def test_parts_draw_words_of_their_own() -> None:
    words = [Randomness(7).part(number).words("order", 8).tolist() for number in (0, 1)]
    assert words[0] != words[1]
    assert Randomness(7).part(1).words("order", 4, start=4).tolist() == words[1][4:]
    assert Randomness(7).words("part 1/order", 8).tolist() == words[1]


def test_what_parts_say_of_the_whole_must_agree(table: uc.Table) -> None:
    draft = anonymized(uc.Mondrian(k=5), table, engine=uc.LocalEngine(), randomness=Randomness(1))
    rows = np.arange(900)
    with pytest.raises(ParameterError, match=r"something else of every part \(used\)"):
        joined([(rows[:450], draft), (rows[450:], replace(draft, used={"p": 1}))], 900)


def test_figures_of_parts_are_added_up_averaged_or_taken_at_their_ends(table: uc.Table) -> None:
    draft = anonymized(uc.Mondrian(k=5), table, engine=uc.LocalEngine(), randomness=Randomness(1))
    halves = [table.take(np.arange(450)), table.take(np.arange(450, 900))]
    drafts = [
        replace(anonymized(uc.Mondrian(k=5), half, engine=uc.LocalEngine(), randomness=Randomness(1)), diagnostics=told)
        for half, told in zip(
            halves,
            (
                {"groups": 3, "smallest_group": 5, "largest_group": 9, "share": 0.25, "by": {"max": 1.0}},
                {"groups": 3, "smallest_group": 4, "largest_group": 7, "share": 0.75, "by": {"max": 2.0}},
            ),
            strict=True,
        )
    ]
    whole = joined([(np.arange(450), drafts[0]), (np.arange(450, 900), drafts[1])], 900)
    assert whole.diagnostics == {
        "groups": 6,
        "smallest_group": 4,
        "largest_group": 9,
        "share": 0.5,
        "by": {"max": 2.0},
    }
    assert whole.groups.count == drafts[0].groups.count + drafts[1].groups.count
    assert joined([(np.arange(900), draft)], 900) is draft
    assert isinstance(whole.groups, Groups)
