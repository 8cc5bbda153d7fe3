"""Encoding at the door: kinds, missing values, odd types, code widths, and every complaint."""

from __future__ import annotations

import datetime
import decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from undercover.errors import DataError, HierarchyError, SchemaError
from undercover.model.hierarchy import Hierarchy
from undercover.model.schema import Column, Schema
from undercover.model.table import EncodedColumn, Table, code_type, encode

NAN, INFINITY = float("nan"), float("inf")
DAY = datetime.date(2020, 2, 29)
MIDNIGHT, NOON = datetime.datetime(2020, 2, 28), datetime.datetime(2020, 2, 29, 12)


def column(values: Any, *, missing: str = "error", **settings: Any) -> EncodedColumn:
    return encode(
        "x", values if isinstance(values, pa.Array) else pa.array(values), Column(**settings), missing=missing
    )


@pytest.mark.parametrize(
    ("values", "kind", "labels"),
    [
        (pa.array([30, 4, 30]), "numeric", ("4", "30")),
        (pa.array([30, 4], pa.uint8()), "numeric", ("4", "30")),
        (pa.array([30, 4], pa.uint64()), "numeric", ("4", "30")),
        (pa.array([2.0, -1.0]), "numeric", ("-1", "2")),
        (pa.array([2.5, -1.0]), "numeric", ("-1", "2.5")),
        (pa.array([1e300, 2.0]), "numeric", ("2", "1e+300")),
        (pa.array(np.array([1.5, 2], np.float16)), "numeric", ("1.5", "2")),
        (pa.array([decimal.Decimal("2.50"), decimal.Decimal("10.00")]), "numeric", ("2.5", "10")),
        (pa.array([2**62 + 1, 2**62]), "numeric", (str(2**62), str(2**62 + 1))),
        (pa.array(["b", "a", "b"]), "categorical", ("a", "b")),
        (pa.array(["b", "a"], pa.large_string()), "categorical", ("a", "b")),
        (pa.array(["b", "a"], pa.string_view()), "categorical", ("a", "b")),
        (pa.array(["b", "a", "b"]).dictionary_encode(), "categorical", ("a", "b")),
        (pa.array(["b", "a"], pa.large_string()).dictionary_encode(), "categorical", ("a", "b")),
        (pa.array([30, 4]).dictionary_encode(), "numeric", ("4", "30")),
        (pa.array([True, False]), "categorical", ("false", "true")),
        (pa.array([DAY, datetime.date(1999, 1, 1)]), "date", ("1999-01-01", "2020-02-29")),
        (pa.array([86_400_000, 0], pa.date64()), "date", ("1970-01-01", "1970-01-02")),
        (
            pa.array([datetime.datetime(2020, 1, 2), datetime.datetime(2020, 1, 1)]),
            "date",
            ("2020-01-01", "2020-01-02"),
        ),
        (pa.array([NOON, datetime.datetime(2020, 1, 1)]), "date", ("2020-01-01T00:00:00", "2020-02-29T12:00:00")),
        (pa.array([86_400, 0], pa.timestamp("s")), "date", ("1970-01-01", "1970-01-02")),
        (pa.array([86_400 * 10**9, 0], pa.timestamp("ns")), "date", ("1970-01-01", "1970-01-02")),
    ],
)
def test_undeclared_kinds_and_labels(values: pa.Array, kind: str, labels: tuple[str, ...]) -> None:
    encoded = column(values)
    assert encoded.domain.kind == kind
    assert encoded.domain.labels == labels
    plain = values.cast(values.type.value_type) if pa.types.is_dictionary(values.type) else values
    ranks = sorted(set(plain.to_pylist()))
    assert encoded.codes.tolist() == [ranks.index(value) for value in plain.to_pylist()]


@pytest.mark.parametrize(
    ("values", "kind", "labels"),
    [
        ([10, 9, 2], "categorical", ("2", "9", "10")),
        ([10.0, 9.0, 2.0], "categorical", ("2", "9", "10")),
        ([1.5, 2.0], "categorical", ("1.5", "2")),
        (["10", "9", "2"], "numeric", ("2", "9", "10")),
        (["1.5", "10"], "numeric", ("1.5", "10")),
        ([True, False], "numeric", ("0", "1")),
        (["2020-02-29", "1999-01-01"], "date", ("1999-01-01", "2020-02-29")),
    ],
)
def test_declared_kinds(values: list[Any], kind: str, labels: tuple[str, ...]) -> None:
    encoded = column(values, kind=kind)
    assert encoded.domain.kind == kind
    assert encoded.domain.labels == labels


def test_ordinal_values_follow_the_declared_order() -> None:
    encoded = column(["high", "low", "middle", "low"], kind="ordinal", domain=("low", "middle", "high", "extreme"))
    assert encoded.codes.tolist() == [2, 0, 1, 0]
    assert encoded.domain.labels == ("low", "middle", "high")
    assert encoded.domain.positions.tolist() == [0.0, 0.5, 1.0]


def test_ordinal_numbers_follow_the_declared_order() -> None:
    encoded = column([1.0, 2.0, 1.0], kind="ordinal", domain=("2", "1"))
    assert encoded.codes.tolist() == [1, 0, 1]


@pytest.mark.parametrize("kind", ["ordinal", "categorical", "numeric"])
def test_values_outside_the_declared_domain_are_named(kind: str) -> None:
    with pytest.raises(DataError, match="outside its declared domain: 2 values"):
        column([1, 8, 7, 1], kind=kind, domain=("1", "2"))


def test_positions_lie_between_zero_and_one_with_missing_a_whole_scale_away() -> None:
    assert column([10, 20, 40, None], missing="category").domain.positions.tolist() == [0, 1 / 3, 1, 2]
    dates = column([datetime.date(2020, 1, d) for d in (1, 2, 5)])
    assert dates.domain.positions.tolist() == [0, 0.25, 1]
    assert column([7, 7]).domain.positions.tolist() == [0]
    assert column([None, None], missing="category").domain.positions.tolist() == [2]


def test_positions_of_the_largest_numbers_do_not_overflow() -> None:
    assert column([-1.7e308, 0.5, 1.7e308]).domain.positions.tolist() == [0, 0.5, 1]


@pytest.mark.parametrize(
    ("values", "settings"),
    [
        (pa.array([1.5, NAN, None]), {}),
        (pa.array([1.0, NAN, None]), {}),
        (pa.array([1.0, NAN, None]), {"kind": "categorical"}),
        (pa.array([1.5, NAN, None]), {"kind": "categorical"}),
        (pa.array([1.0, NAN, None]), {"kind": "ordinal", "domain": ("1",)}),
        (pa.array(["a", "", None]), {}),
        (pa.array(["a", "", None]).dictionary_encode(), {}),
        (pa.array(["1", "", None]), {"kind": "numeric"}),
        (pa.array(["2020-01-01", "", None]), {"kind": "date"}),
        (pa.DictionaryArray.from_arrays(pa.array([0, 1, None]), pa.array(["a", None])), {}),
    ],
)
def test_everything_written_as_an_empty_cell_is_one_missing_value(values: pa.Array, settings: dict[str, Any]) -> None:
    encoded = column(values, missing="category", **settings)
    assert encoded.codes.tolist() == [0, 1, 1]
    assert encoded.domain.has_missing
    assert encoded.domain.labels[1:] == ("",)
    assert encoded.domain.take(encoded.codes).to_pylist()[1:] == [None, None]
    for policy in ("error", "drop"):
        with pytest.raises(DataError, match="Column `x` has 2 missing values"):
            column(values, missing=policy, **settings)


def test_a_column_without_any_value() -> None:
    for values in (pa.nulls(3), pa.nulls(3, pa.float64()), pa.nulls(3, pa.date32())):
        encoded = column(values, missing="category")
        assert (encoded.codes.tolist(), encoded.domain.labels) == ([0, 0, 0], ("",))


def test_minus_zero_is_zero() -> None:
    """Two codes with one label would count as two sensitive values and be published as one."""
    for values in ([0.0, -0.0, 1.5], [0.0, -0.0, 1.0]):
        assert column(values).codes.tolist() == [0, 0, 1]


def test_infinite_numbers_are_refused() -> None:
    with pytest.raises(DataError, match="Column `x` has 2 non-finite numbers"):
        column([1.5, INFINITY, -INFINITY])


@pytest.mark.parametrize(("values", "kind"), [(["1", "x"], "numeric"), (["2020-01-01", "x"], "date"), ([1, 2], "date")])
def test_values_that_are_not_of_the_declared_kind_are_refused(values: list[Any], kind: str) -> None:
    with pytest.raises(DataError, match=f"declared {kind}"):
        column(values, kind=kind)


@pytest.mark.parametrize("values", [[[1], [2]], [{"a": 1}], [b"x"]])
def test_lists_records_and_bytes_are_refused(values: list[Any]) -> None:
    with pytest.raises(DataError, match="Column `x` holds"):
        column(values)


@pytest.mark.parametrize(
    ("size", "width"),
    [
        (255, np.uint8),
        (256, np.uint8),
        (257, np.uint16),
        (65_535, np.uint16),
        (65_536, np.uint16),
        (65_537, np.uint32),
    ],
)
def test_codes_are_as_narrow_as_the_domain_allows(size: int, width: type) -> None:
    """Missing is a code like any other."""
    assert code_type(size) is width
    rng = np.random.default_rng(size)
    values = rng.permutation(size)
    encoded = column(pa.array(values))
    assert encoded.codes.dtype == width
    assert (encoded.codes == values).all()
    with_missing = column(pa.array(values, mask=values == size - 1), missing="category")
    assert with_missing.codes.dtype == width
    assert (with_missing.codes == values).all()


def test_chunks_are_joined() -> None:
    parts = [pa.array(["b"]).dictionary_encode(), pa.array(["a", "b"]).dictionary_encode()]
    for chunks in (parts, [part.cast(pa.string()) for part in parts]):
        encoded = encode("x", pa.chunked_array(chunks), Column(), missing="error")
        assert encoded.codes.tolist() == [1, 0, 1]


@settings(deadline=None)
@given(st.lists(st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)), min_size=1))
def test_whole_numbers_come_back_as_they_were(values: list[int | None]) -> None:
    encoded = column(pa.array(values, pa.int64()), missing="category")
    assert encoded.domain.take(encoded.codes).to_pylist() == values
    assert [encoded.domain.labels[code] for code in encoded.codes] == ["" if v is None else str(v) for v in values]


@settings(deadline=None)
@given(st.lists(st.one_of(st.none(), st.text(min_size=1)), min_size=1))
def test_texts_come_back_as_they_were(values: list[str | None]) -> None:
    encoded = column(pa.array(values, pa.string()), missing="category")
    assert encoded.domain.take(encoded.codes).to_pylist() == values
    assert encoded.domain.size == len(set(values))


@settings(deadline=None)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_numbers_come_back_as_they_were_and_in_order(values: list[float]) -> None:
    encoded = column(pa.array(values))
    assert encoded.domain.take(encoded.codes).to_pylist() == values
    assert [float(label) for label in encoded.domain.labels] == sorted(set(values))
    assert (np.diff(encoded.domain.positions) >= 0).all()


PEOPLE = {
    "name": ["Al", "Bo", "Cy", "Al", None],
    "age": [34, None, 28, 34, 51],
    "zip": ["53111", "53111", None, "50667", "50667"],
    "disease": ["flu", "flu", "cold", "", "gout"],
    "shoe": [42, 40, None, 44, 39],
}


def people(missing: str = "error", **more: Any) -> Schema:
    return Schema(
        quasi_identifiers=["age", "zip"],
        sensitive="disease",
        identifiers=["name"],
        insensitive=["shoe"],
        missing=missing,
        **more,
    )


def test_missing_values_of_every_column_are_reported_together() -> None:
    with pytest.raises(DataError) as caught:
        Table.from_arrow(pa.table(PEOPLE), people())
    text = str(caught.value)
    for name in ("age", "zip", "disease"):
        assert f"Column `{name}` has 1 missing value." in text
    assert "shoe" not in text
    assert 'missing="drop"' in text


def test_dropped_rows_keep_the_numbers_of_the_others() -> None:
    table = Table.from_arrow(pa.table(PEOPLE), people("drop"))
    assert table.rows.tolist() == [0, 4]
    assert (table.n_rows, table.n_input) == (2, 5)
    assert table["age"].domain.labels == ("34", "51")
    assert not any(table[name].domain.has_missing for name in ("age", "zip", "disease"))


def test_dropping_every_row_is_refused() -> None:
    with pytest.raises(DataError, match="Every row has a missing value"):
        Table.from_arrow(
            pa.table({"age": [None, 1], "zip": ["a", None]}), Schema(quasi_identifiers=["age", "zip"], missing="drop")
        )


def test_missing_as_a_category_is_the_last_code() -> None:
    table = Table.from_arrow(pa.table(PEOPLE), people("category"))
    assert table.rows.tolist() == [0, 1, 2, 3, 4]
    assert table["age"].codes.tolist() == [1, 3, 0, 1, 2]
    assert table["disease"].domain.labels == ("cold", "flu", "gout", "")


def test_missing_values_of_insensitive_columns_are_published_as_they_are() -> None:
    data = pa.table({"age": [1, 2], "shoe": [42, None]})
    table = Table.from_arrow(data, Schema(quasi_identifiers=["age"], insensitive=["shoe"]))
    assert table["shoe"].domain.has_missing


def test_identifiers_stay_at_the_door_and_repeated_ones_are_counted() -> None:
    table = Table.from_arrow(pa.table(PEOPLE), people("category"))
    assert "name" not in table.columns
    assert table.repeated == {"name": 2}


@pytest.mark.parametrize(
    ("names", "repeated"),
    [
        (["a", "b", "c"], 0),
        (["a", "a", "a"], 3),
        (pa.array(["a", "a", "b"]).dictionary_encode(), 2),
        ([1.0, NAN, NAN], 0),
        ([None, None, "a"], 0),
        (["", "", "a"], 0),
    ],
)
def test_rows_that_share_an_identifier(names: Any, repeated: int) -> None:
    data = pa.table({"age": [1, 2, 3], "name": names})
    table = Table.from_arrow(data, Schema(quasi_identifiers=["age"], identifiers=["name"]))
    assert table.repeated == {"name": repeated}


def test_columns_without_a_role_are_left_out() -> None:
    table = Table.from_arrow(pa.table({"age": [1], "diary": ["secret"]}), Schema(quasi_identifiers=["age"]))
    assert list(table.columns) == ["age"]


def test_an_empty_table_is_refused() -> None:
    with pytest.raises(DataError, match="The table is empty"):
        Table.from_arrow(pa.table({"age": pa.array([], pa.int64())}), Schema(quasi_identifiers=["age"]))


def test_duplicate_columns_are_refused() -> None:
    data = pa.table([pa.array([1]), pa.array([2]), pa.array([3])], names=["age", "zip", "age"])
    with pytest.raises(DataError, match="more than one column named `age`"):
        Table.from_arrow(data, Schema(quasi_identifiers=["zip"]))


def test_unknown_columns_are_all_named_with_what_was_probably_meant() -> None:
    schema = Schema(quasi_identifiers=["agee", "zip"], sensitive="diseas", columns={"shoes": Column()})
    with pytest.raises(SchemaError) as caught:
        Table.from_arrow(pa.table(PEOPLE), schema)
    assert len(caught.value.problems) == 3
    for wrong, right in (("agee", "age"), ("diseas", "disease"), ("shoes", "shoe")):
        assert f"Column `{wrong}` is not known. Did you mean `{right}`?" in str(caught.value)


def test_problems_of_several_columns_are_reported_together() -> None:
    towns = Hierarchy([("Bonn", "NRW"), ("Köln", "NRW")])
    schema = Schema(
        quasi_identifiers=["height", "town", "level"],
        columns={"town": Column(hierarchy=towns), "level": Column(kind="ordinal", domain=("low", "high"))},
    )
    data = pa.table({"height": [1.5, INFINITY], "town": ["Bonn", "Ulm"], "level": ["low", "mid"]})
    with pytest.raises(DataError) as caught:
        Table.from_arrow(data, schema)
    assert [problem.split("`")[1] for problem in caught.value.problems] == ["height", "town", "level"]


def test_gaps_of_a_hierarchy_are_named() -> None:
    towns = Hierarchy([("Bonn", "NRW"), ("Köln", "NRW")])
    with pytest.raises(HierarchyError, match="does not cover 2 values"):
        column(["Ulm", "Bonn", "Mainz"], hierarchy=towns)


def test_a_hierarchy_of_numbers_is_matched_by_how_they_are_written() -> None:
    ages = Hierarchy([("1", "young"), ("2", "young"), ("30", "old")])
    for values in ([1, 30, 2], [1.0, 30.0, 2.0], ["1", "30", "2"]):
        encoded = column(values, hierarchy=ages)
        assert encoded.leaf_codes[encoded.codes].tolist() == [0, 2, 1]


def test_leaves_are_numbered_depth_first_and_missing_comes_behind_them() -> None:
    towns = Hierarchy([("Bonn", "D"), ("Lyon", "F"), ("Köln", "D"), ("Nice", "F")])
    encoded = column(["Nice", "Lyon", "Köln", None], hierarchy=towns, missing="category")
    leaves = dict(zip(encoded.domain.labels, encoded.leaf_codes.tolist(), strict=True))
    assert leaves == {"Köln": 1, "Lyon": 2, "Nice": 3, "": 4}
    with pytest.raises(HierarchyError, match="Column `x` has no hierarchy"):
        _ = column([1]).leaf_codes


def test_taking_rows_keeps_domains_and_input_numbers() -> None:
    table = Table.from_arrow(pa.table(PEOPLE), people("drop"))
    taken = table.take(np.array([1]))
    assert (taken.n_rows, taken.rows.tolist()) == (1, [4])
    assert taken["age"].domain is table["age"].domain
    assert taken["age"].codes.tolist() == [1]


def test_the_input_is_left_as_it_was() -> None:
    data = pa.table(PEOPLE)
    before = data.to_pydict()
    Table.from_arrow(data, people("category"))
    assert data.to_pydict() == before
