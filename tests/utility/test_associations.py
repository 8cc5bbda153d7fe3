import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_associations import plain_cramers_v, plain_rank_correlation

import undercover as uc
from undercover.model.release import PublishedColumn, PublishedTable, Release
from undercover.model.table import Table
from undercover.utility.binned_tables import binned_tables
from undercover.utility.kept import associations, cramers_v, rank_correlation

AGE, PAY = PublishedColumn("age", "quasi-identifier", "interval"), PublishedColumn("pay", "sensitive", "value")

tables = st.integers(2, 5).flatmap(
    lambda rows: st.integers(2, 5).flatmap(
        lambda columns: st.lists(
            st.lists(st.integers(1, 9), min_size=columns, max_size=columns), min_size=rows, max_size=rows
        )
    )
)


@given(tables)
def test_equal_those_of_the_people_one_by_one(counts):
    found, plain = rank_correlation(np.array(counts)), plain_rank_correlation(counts)
    assert found == pytest.approx(plain, abs=1e-9)
    assert cramers_v(np.array(counts)) == pytest.approx(plain_cramers_v(counts), abs=1e-7)


@given(tables)
def test_the_plain_twin_tells_a_changed_table_apart(counts):
    counts = [
        [count + 20 * (row == column) for column, count in enumerate(entries)] for row, entries in enumerate(counts)
    ]
    turned = [entries[::-1] for entries in counts]
    assert rank_correlation(np.array(counts)) == pytest.approx(-plain_rank_correlation(turned), abs=1e-9)


def test_nobody_and_a_single_value_have_none():
    assert rank_correlation(np.zeros((2, 2))) is None
    assert rank_correlation(np.array([[3, 4]])) is None
    assert cramers_v(np.array([[3, 0], [4, 0]])) is None


def test_empty_bins_change_nothing():
    counts = np.array([[3, 1], [1, 3]])
    spread = np.array([[3, 0, 1], [0, 0, 0], [1, 0, 3]])
    assert cramers_v(spread) == cramers_v(counts)
    assert rank_correlation(spread) == pytest.approx(rank_correlation(counts))


def test_negative_estimates_count_as_nobody():
    assert cramers_v(np.array([[5.0, -1.0], [0.0, 5.0]])) == 1.0


def people(ages, pay):
    data = pa.table({"age": ages, "pay": pay})
    return Table.from_arrow(data, uc.Schema(quasi_identifiers=["age"], sensitive="pay", missing="category"))


def test_what_a_wide_cell_does_to_a_correlation():
    original = people([20, 30, 40, 50], [1, 2, 3, 4])
    data = pa.table({"age": ["[20, 30]", "[20, 30]", "[40, 50]", "[40, 50]"], "pay": [1, 2, 3, 4]})
    release = Release("mondrian", {}, (PublishedTable("table", (AGE, PAY), data),), True)
    (found,) = associations(binned_tables(original, release))
    assert (found.columns, found.kind) == (("age", "pay"), "rank correlation")
    assert found.before == pytest.approx(1.0)
    # Each pay is equally likely at both ages of its cell: ranks 1.5, 1.5, 3.5, 3.5 against 1, 2, 3, 4 over all.
    assert found.after == pytest.approx(0.8)
    assert found.to_dict()["change"] == pytest.approx(-0.2)


def test_missing_is_no_rank():
    original = people([20, 30, 40, None], [1, 2, 3, 1])
    data = pa.table({"age": ["20", "30", "40", ""], "pay": [1, 2, 3, 1]})
    release = Release("mondrian", {}, (PublishedTable("table", (AGE, PAY), data),), True)
    (found,) = associations(binned_tables(original, release))
    assert found.before == found.after == pytest.approx(1.0)
