"""The coarse cut: every row in one part, no part too small, and nothing but quasi-identifiers decides."""

import pickle
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import undercover as uc
from undercover.engines.cube import cube_of, rows_of
from undercover.engines.parts import CutRule, cut_rule, least_rows

TREE = uc.Hierarchy([("a", "ab", "*"), ("b", "ab", "*"), ("c", "cd", "*"), ("d", "cd", "*")])
SCHEMA = uc.Schema(
    quasi_identifiers=["age", "job", "town"],
    sensitive="ill",
    missing="category",
    columns={"town": uc.Column(hierarchy=TREE)},
)
ROWS = st.tuples(
    st.one_of(st.none(), st.integers(0, 9)), st.sampled_from("xyz"), st.sampled_from("abcd"), st.sampled_from("st")
)
TABLES = st.lists(ROWS, min_size=1, max_size=40)


def table_of(rows: list[Any]) -> uc.Table:
    columns = zip(*rows, strict=True)
    ages, jobs, towns, ills = (list(column) for column in columns)
    data = {"age": pa.array(ages, pa.int64()), "job": jobs, "town": towns, "ill": ills}
    return uc.Table.from_arrow(pa.table(data), SCHEMA)


def rule_of(table: uc.Table, parts: int, least: int) -> CutRule:
    return cut_rule(rows_of(table, SCHEMA.quasi_identifiers), table, parts, least=least)


def numbers(rule: CutRule, table: uc.Table) -> Any:
    return rule.of({name: table[name].codes for name in rule.columns})


@settings(max_examples=60, deadline=None)
@given(rows=TABLES, parts=st.integers(1, 9), least=st.integers(1, 6))
def test_every_row_is_in_one_part_and_no_part_is_too_small(rows: list[Any], parts: int, least: int) -> None:
    table = table_of(rows)
    rule = rule_of(table, parts, least)
    sizes = np.bincount(numbers(rule, table), minlength=rule.n_parts)
    assert 1 <= rule.n_parts <= parts
    assert len(sizes) == rule.n_parts
    assert sizes.sum() == len(rows)
    assert sizes.min() >= min(least, len(rows))


@settings(max_examples=60, deadline=None)
@given(rows=TABLES, parts=st.integers(2, 9), least=st.integers(1, 3), data=st.data())
def test_neither_order_nor_sensitive_values_have_a_say(rows: list[Any], parts: int, least: int, data: Any) -> None:
    table = table_of(rows)
    order = data.draw(st.permutations(range(len(rows))))
    ills = data.draw(st.lists(st.sampled_from("st"), min_size=len(rows), max_size=len(rows)))
    other = table_of([(*rows[row][:3], ill) for row, ill in zip(order, ills, strict=True)])
    found, again = rule_of(table, parts, least), rule_of(other, parts, least)
    for name in ("column", "threshold", "left", "right", "bounds"):
        assert getattr(found, name).tolist() == getattr(again, name).tolist()
    assert numbers(found, table)[np.array(order)].tolist() == numbers(again, other).tolist()


@settings(max_examples=40, deadline=None)
@given(rows=TABLES, parts=st.integers(2, 9))
def test_a_cube_is_cut_as_its_rows_are(rows: list[Any], parts: int) -> None:
    table = table_of(rows)
    counted = cut_rule(cube_of(table, SCHEMA.quasi_identifiers), table, parts, least=2)
    assert counted.bounds.tolist() == rule_of(table, parts, 2).bounds.tolist()
    assert counted.threshold.tolist() == rule_of(table, parts, 2).threshold.tolist()


@settings(max_examples=40, deadline=None)
@given(rows=TABLES, parts=st.integers(2, 9))
def test_the_values_of_a_part_lie_in_its_box_and_boxes_have_no_value_in_common(rows: list[Any], parts: int) -> None:
    table = table_of(rows)
    rule = rule_of(table, parts, 1)
    own = numbers(rule, table)
    boxes = [rule.part(number, {}) for number in range(rule.n_parts)]
    held = np.array([[box.holds(name)[table[name].codes] for name in rule.columns] for box in boxes]).all(axis=1)
    assert (held.sum(axis=0) == 1).all()
    assert held.argmax(axis=0).tolist() == own.tolist()
    nodes = {(int(a), int(b)) for a, b in zip(TREE.tree.first, TREE.tree.last, strict=True)}
    assert {tuple(box.bounds["town"][1:]) for box in boxes} <= nodes


def test_a_part_is_cut_at_the_median_of_its_widest_column() -> None:
    table = table_of([(age, "x", "a", "s") for age in (0, 1, 2, 3, 4, 5, 6, 9)])
    rule = rule_of(table, 4, 1)
    assert [table["age"].domain.labels[code] for code in rule.threshold[rule.column == 0]] == ["3", "1", "5"]
    assert numbers(rule, table).tolist() == [0, 0, 1, 1, 2, 2, 3, 3]


def test_nodes_that_must_stay_together_do() -> None:
    table = table_of([(age, "x", "a", "s") for age in range(8)])
    together = {"age": np.arange(8) // 4}
    rule = cut_rule(rows_of(table, ["age"]), table, 8, least=1, together=together)
    assert numbers(rule, table).tolist() == [0, 0, 0, 0, 1, 1, 1, 1]


def test_a_rule_is_plain_data() -> None:
    table = table_of([(age, "x", "a", "s") for age in range(8)])
    rule = rule_of(table, 4, 1)
    back = pickle.loads(pickle.dumps(rule))
    assert numbers(back, table).tolist() == numbers(rule, table).tolist()


@pytest.mark.parametrize(("n_rows", "parts", "least", "expected"), [(100, 4, 0, 6), (100, 4, 20, 20), (3, 8, 0, 1)])
def test_parts_are_not_much_smaller_than_others(n_rows: int, parts: int, least: int, expected: int) -> None:
    assert least_rows(n_rows, parts, least) == expected


@pytest.mark.parametrize("columns", [["age"], ["age", "job", "town"], ["ill", "age"]])
def test_a_cube_is_a_group_by(columns: list[str]) -> None:
    rng = np.random.default_rng(62)
    rows = [(int(a), "xyz"[b], "abcd"[c], "st"[d]) for a, b, c, d in rng.integers(0, (10, 3, 4, 2), (300, 4))]
    table = table_of(rows)
    cube = cube_of(table, columns)
    found = list(zip(*(codes.tolist() for codes in cube.codes), strict=True))
    counted: dict[tuple[int, ...], int] = {}
    for row in zip(*(table[name].codes.tolist() for name in columns), strict=True):
        counted[row] = counted.get(row, 0) + 1
    assert cube.counts is not None
    assert dict(zip(found, cube.counts.tolist(), strict=True)) == counted
    assert found == sorted(found)
    assert (cube.n_rows, cube.as_table(table).n_rows) == (300, len(counted))


@pytest.mark.parametrize("room", [0, 1 << 24])
def test_a_cube_is_the_same_however_it_is_counted(monkeypatch: pytest.MonkeyPatch, room: int) -> None:
    from undercover.engines import cube as module

    table = table_of([(age % 7, "xyz"[age % 3], "abcd"[age % 4], "s") for age in range(50)])
    expected = cube_of(table, SCHEMA.quasi_identifiers)
    monkeypatch.setattr(module, "_LARGEST_COUNT", room)
    monkeypatch.setattr(module, "_ROWS_AT_ONCE", 11)
    for largest in (1, 1 << 62):
        monkeypatch.setattr(module, "_LARGEST_KEY", largest)
        found = cube_of(table, SCHEMA.quasi_identifiers)
        assert [codes.tolist() for codes in found.codes] == [codes.tolist() for codes in expected.codes]
        assert found.counts is not None
        assert expected.counts is not None
        assert found.counts.tolist() == expected.counts.tolist()
