"""Hierarchy.tree against brute force on small random hierarchies."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from undercover.errors import HierarchyError
from undercover.model.hierarchy import Hierarchy


@st.composite
def hierarchies(draw: st.DrawFn) -> Hierarchy:
    """Random depth and fan-out; labels repeat across levels, so that a node may share its name with its child."""
    leaves = draw(st.integers(1, 8))
    rows = [[f"v{number}"] for number in range(leaves)]
    current = list(range(leaves))
    for level in range(draw(st.integers(0, 3))):
        parents = {node: draw(st.integers(0, 3)) for node in sorted(set(current))}
        current = [parents[node] for node in current]
        prefix = draw(st.sampled_from(["v", "w", f"l{level}-"]))
        for row, node in zip(rows, current, strict=True):
            row.append(f"{prefix}{node}")
    order = draw(st.permutations(range(leaves)))
    return Hierarchy(rows[position] for position in order)


def node_sets(hierarchy: Hierarchy) -> set[frozenset[str]]:
    found: dict[tuple[int, str], set[str]] = {}
    for row in hierarchy.rows:
        for level, label in enumerate(row):
            found.setdefault((level, label), set()).add(row[0])
    return {frozenset(leaves) for leaves in found.values()}


def leaves_under(hierarchy: Hierarchy, node: int) -> frozenset[str]:
    tree = hierarchy.tree
    places = tree.leaf_order[tree.first[node] : tree.last[node] + 1]
    return frozenset(hierarchy.leaves[place] for place in places)


@settings(deadline=None)
@given(hierarchies())
def test_nodes_are_the_leaf_sets_of_the_rows_each_once(hierarchy: Hierarchy) -> None:
    tree = hierarchy.tree
    sets = [leaves_under(hierarchy, node) for node in range(len(tree.first))]
    assert len(set(sets)) == len(sets)
    assert set(sets) == node_sets(hierarchy)


@settings(deadline=None)
@given(hierarchies())
def test_parents_precede_their_children_and_chains_are_collapsed(hierarchy: Hierarchy) -> None:
    tree = hierarchy.tree
    assert tree.parent[0] == -1
    assert leaves_under(hierarchy, 0) == frozenset(hierarchy.leaves)
    for node in range(len(tree.first)):
        children = tree.children[tree.children_start[node] : tree.children_start[node + 1]]
        assert len(children) != 1
        assert all(child > node and tree.parent[child] == node for child in children)
        if len(children):
            parts = [leaves_under(hierarchy, int(child)) for child in children]
            assert sum(map(len, parts)) == len(leaves_under(hierarchy, node))
            assert frozenset().union(*parts) == leaves_under(hierarchy, node)
        else:
            assert tree.first[node] == tree.last[node]


@settings(deadline=None)
@given(hierarchies())
def test_leaves_and_labels(hierarchy: Hierarchy) -> None:
    tree = hierarchy.tree
    assert tree.n_leaves == len(hierarchy.rows)
    assert sorted(tree.leaf_order.tolist()) == list(range(tree.n_leaves))
    assert len(set(tree.labels)) == len(tree.labels)
    for place, node in enumerate(tree.leaf_node.tolist()):
        assert tree.first[node] == tree.last[node] == place
        assert tree.labels[node] == hierarchy.leaves[tree.leaf_order[place]]


def test_a_node_that_shares_its_name_with_a_leaf_is_told_apart_by_its_level() -> None:
    codes = Hierarchy([("250", "250"), ("250.1", "250"), ("010", "010")])
    assert set(codes.tree.labels) == {"*", "250 (level 1)", "250", "250.1", "010"}


def test_the_root_keeps_its_label_where_a_chain_hangs_below_it() -> None:
    tree = Hierarchy([("a", "x", "*"), ("b", "x", "*")]).tree
    assert tree.labels == ("*", "a", "b")


def test_a_single_leaf_is_its_own_root() -> None:
    tree = Hierarchy([("a", "x")]).tree
    assert tree.labels == ("a",)
    assert tree.leaf_node.tolist() == [0]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "at least one leaf"),
        ([("a", "x"), ("a", "y")], "Leaf 2 is listed twice"),
        (
            [("a", "x", "p"), ("b", "x", "q")],
            "Level 2 is not a function of level 1: a text of 1 char",
        ),
        ([("*", "x"), ("b", "x")], "cannot be a leaf"),
        ([("a", "*"), ("b", "*"), ("c", "x")], "on level 1 only 2 leaves"),
    ],
)
def test_what_is_no_hierarchy_is_refused(rows: list[tuple[str, ...]], message: str) -> None:
    with pytest.raises(HierarchyError, match=message):
        Hierarchy(rows)
