"""Lattices, their nodes and sets as bits, by hand."""

import numpy as np

from undercover.methods.noncentralized.cells import _cell_bits
from undercover.model.release import Release
from undercover.steps.cutting.checks import Asked
from undercover.steps.lattice.choice import with_levels
from undercover.steps.lattice.conditions import other_sets
from undercover.steps.lattice.lattice import Lattice, above, every_node, listed_nodes


def test_what_l_means_needs_an_l() -> None:
    assert Asked(method="Mondrian", l=3).problems() == []
    assert Asked(method="Mondrian", diversity="distinct").problems() == [
        "The 'diversity' parameter of Mondrian says what l means. Give l too."
    ]


def test_levels_are_told_where_they_were_used() -> None:
    assert (
        with_levels("Generalised.", Release("incognito", {"used": {"levels": {"age": "2 of 4"}}}, (), True))
        == "Generalised. Levels, 0 being the value itself: age 2 of 4."
    )


def test_sets_that_hold_others_are_left_out() -> None:
    sets, starts, missing = other_sets([np.array([[0b111], [0b001], [0b011]], np.uint64)], 3)
    assert (sets.tolist(), starts.tolist(), missing.tolist()) == ([[1]], [0, 1], [2])


def test_nodes_above_passing_ones() -> None:
    assert above(np.array([[False, True], [False, False]])).tolist() == [[False, True], [False, True]]


def test_every_node_is_visited() -> None:
    class Bare:
        def __init__(self, levels):
            self.levels = levels

        def rolled_up(self, axis, level):
            return Bare((*self.levels[:axis], level, *self.levels[axis + 1 :]))

    whole = np.ones((2, 2), dtype=bool)
    assert listed_nodes(every_node(Lattice((1, 1)), Bare, lambda cube: sum(cube.levels) % 2 == 0, whole)) == [
        (0, 0),
        (1, 1),
    ]


def test_cells_of_a_column_as_bits() -> None:
    assert _cell_bits(["[1, 5]", "3", "*"]) == {"[1, 5]": 31, "3": 4, "*": -1}
    assert _cell_bits(["3", "many"]) is None
