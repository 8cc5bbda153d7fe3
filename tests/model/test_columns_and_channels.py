"""Columns, groups, bins and channels, by hand."""

from fractions import Fraction

import numpy as np
import pyarrow as pa

from undercover.model.about import About, asked
from undercover.model.bins import Bins
from undercover.model.cells import quote
from undercover.model.channel import Channel
from undercover.model.groups import drawn_cells, number
from undercover.model.release import Release
from undercover.model.schema import Column
from undercover.model.table import cell_kind, encode


def test_codes_and_labels_of_a_column() -> None:
    column = encode("age", pa.array([34, 28, None, 34]), Column(), missing="category")
    assert (column.codes.tolist(), column.domain.labels, column.domain.kind) == (
        [1, 0, 2, 1],
        ("28", "34", ""),
        "numeric",
    )


def test_how_a_column_is_published() -> None:
    assert cell_kind(encode("sex", pa.array(["F", "M"]), Column(), missing="value")) == "set"


def test_codes_without_gaps() -> None:
    assert number(np.array([70, 30, 70]))[0].tolist() == [0, 1, 0]


def test_groups_with_their_values() -> None:
    assert sorted(sorted(rows) for rows, value in drawn_cells([[0, 2], [1]], ["flu", "cold"])) == [[0, 2], [1]]


def test_bins_begin_at_their_edges() -> None:
    assert Bins.of(np.arange(0, 30, 10)).edges == (0, 10, 20)


def test_members_with_commas_are_quoted() -> None:
    assert (quote("flu"), quote("a, b")) == ("flu", '"a, b"')


def test_a_channel_by_its_numbers() -> None:
    noise = Channel(Fraction(1, 4), ("flu", "cold", "gout"))
    assert (noise.u, noise.size, noise.code["gout"]) == (Fraction(1, 4), 3, 2)


def test_what_a_method_says_of_itself() -> None:
    assert asked("k", "l")(Release("mondrian", {"l": 3, "k": 5, "cut": "loss"}, (), False)) == {"k": 5, "l": 3}
    about = About(title="Swap", did=lambda release: "Values were swapped.")
    assert about.main(Release("swap", {"k": 5}, (), False)) == {"k": 5}
