"""The linkage attack against a double loop over people and published rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from plain_linkage import PlainLinkage, fits, shares_of_buckets, shares_of_rows

import undercover as uc
from undercover.attacks.linkage import Disclosure
from undercover.engines.local import LocalEngine
from undercover.errors import DataError, ParameterError
from undercover.forms.case import Case
from undercover.model.release import PublishedColumn, PublishedTable, Release
from undercover.threads import however_little

TOWNS = uc.Hierarchy([("Ulm", "South", "*"), ("Wien", "South", "*"), ("Kiel", "North", "*"), ("Oslo", "North", "*")])
COLUMNS = {"town": uc.Column(hierarchy=TOWNS)}


def random_people(rng: np.random.Generator, *, missing: bool = False, n: int = 40) -> pa.Table:
    columns: dict[str, list[Any]] = {
        "age": rng.integers(20, 32, n).tolist(),
        "town": [TOWNS.leaves[i] for i in rng.integers(0, 4, n)],
        "job": [("cook", "smith", "clerk", "judge")[i] for i in rng.integers(0, 4, n)],
        "ward": [("x", "y")[i] for i in rng.integers(0, 2, n)],
        "ill": [("flu", "cold", "gout", "rash", "fever")[i % 5] for i in rng.permutation(n)],
        "pay": rng.integers(1, 4, n).tolist(),
    }
    if missing:
        for name in ("age", "town", "job", "ward", "ill"):
            for i in rng.choice(n, 4, replace=False):
                columns[name][i] = None
    return pa.table(columns)


def schema(sensitive: Sequence[str] = ("ill",), insensitive: Sequence[str] = ()) -> uc.Schema:
    return uc.Schema(
        quasi_identifiers=["age", "town", "job"],
        sensitive=sensitive,
        insensitive=insensitive,
        columns=COLUMNS,
        missing="category",
    )


def same(found: Disclosure, plain: PlainLinkage) -> None:
    assert found.matches.tolist() == plain.matches
    assert found.identity.tolist() == [1 / m if m else 0.0 for m in plain.matches]
    assert set(found.attribute) == set(plain.attribute)
    for name, shares in plain.attribute.items():
        assert found.attribute[name] == pytest.approx([float(share) for share in shares], abs=1e-12)
        assert found.hits[name] == pytest.approx([float(hit) for hit in plain.hits[name]], abs=1e-12)


def before(data: pa.Table, known: Sequence[str], sensitive: Sequence[str]) -> PlainLinkage:
    rows = data.to_pylist()
    return PlainLinkage(rows, rows, shares_of_rows(rows, sensitive), known, sensitive)


MONDRIANS = [
    uc.Mondrian(k=3),
    uc.Mondrian(k=2, recoding="regions"),
    uc.Mondrian(k=4, cut="median"),
    uc.Mondrian(k=2, l=2),
    uc.Mondrian(k=1),
]


@pytest.mark.parametrize("method", MONDRIANS)
@pytest.mark.parametrize("missing", [False, True])
def test_a_generalised_table_is_attacked_as_the_story_tells(method: uc.Mondrian, missing: bool) -> None:
    for number in range(4):
        data = random_people(np.random.default_rng((number, 50)), missing=missing)
        run = uc.publish(data, schema(["ill", "pay"], ["ward"]), method)
        found = uc.attack(run)
        assert found.known == ("age", "town", "job", "ward")
        published = run.release.table().to_pylist()
        shares = shares_of_rows(published, ["ill", "pay"])
        same(found.before, before(data, found.known, ["ill", "pay"]))
        same(
            found.after,
            PlainLinkage(data.to_pylist(), published, shares, found.known, ["ill", "pay"], {"town": TOWNS}),
        )
        assert found.after.matches.min() >= 1


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("known", [None, ("age",), ("job", "town"), ("ward",), ("ward", "age")])
def test_two_tables_are_attacked_as_the_story_tells(known: tuple[str, ...] | None, missing: bool) -> None:
    for number in range(4):
        data = random_people(np.random.default_rng((number, 51)), missing=missing)
        run = uc.publish(data, schema(insensitive=["ward"]), uc.Anatomy(l=3))
        found = uc.attack(run, uc.Linkage(known=known))
        qit, sat = (run.release.table(name).to_pylist() for name in ("qit", "sat"))
        same(found.before, before(data, found.known, ["ill"]))
        same(
            found.after,
            PlainLinkage(data.to_pylist(), qit, shares_of_buckets(qit, sat, "ill"), found.known, ["ill"]),
        )


@pytest.mark.parametrize("known", [("age",), ("town",), ("job", "age")])
def test_an_attacker_who_knows_less(known: tuple[str, ...]) -> None:
    data = random_people(np.random.default_rng(52))
    run = uc.publish(data, schema(), uc.Mondrian(k=3))
    published = run.release.table().to_pylist()
    found = uc.attack(run, uc.Linkage(known=known))
    plain = PlainLinkage(
        data.to_pylist(), published, shares_of_rows(published, ["ill"]), known, ["ill"], {"town": TOWNS}
    )
    same(found.after, plain)
    assert found.story.count("`") == 2 * len(known)
    assert (found.after.matches >= uc.attack(run).after.matches).all()


@however_little()
def test_threads_do_not_change_what_is_found() -> None:
    run = uc.publish(random_people(np.random.default_rng(53), n=200), schema(), uc.Mondrian(k=2))
    assert run.original is not None
    one, three = (
        uc.Linkage().run(Case(run.original, run.release, engine=LocalEngine(threads=threads))).to_dict()
        for threads in (1, 3)
    )
    assert one == three


def test_insensitive_columns_count_as_known() -> None:
    # Everybody is alike in age; the ward alone singles people out, and it was published unchanged.
    data = pa.table({"age": [30] * 4, "ward": ["a", "b", "c", "c"], "ill": ["flu", "cold", "flu", "cold"]})
    roles = uc.Schema(quasi_identifiers=["age"], insensitive=["ward"], sensitive="ill")
    run = uc.publish(data, roles, uc.Mondrian(k=4))
    found = uc.attack(run)
    assert found.known == ("age", "ward")
    assert found.after.matches.tolist() == [1, 1, 2, 2]
    assert found.after.attribute["ill"].tolist() == [1.0, 1.0, 0.5, 0.5]
    assert uc.attack(run, uc.Linkage(known=("age",))).after.matches.tolist() == [4] * 4


def test_guessing_by_hand() -> None:
    data = pa.table({"age": [1, 2, 3, 4], "ill": ["flu", "flu", "flu", "cold"]})
    run = uc.publish(data, uc.Schema(quasi_identifiers=["age"], sensitive="ill"), uc.Mondrian(k=2))
    found = uc.attack(run).to_dict()
    assert found["baseline"] == {
        "identity": 0.25,
        "attribute": {"ill": {"mean": 9 / 16 + 1 / 16, "guess_success": 0.75}},
    }
    assert found["before"]["identity"] == {"mean": 1.0, "max": 1.0, "at_risk_share": 1.0, "unique_rows": 4}
    assert found["after"]["identity"] == {"mean": 0.5, "max": 0.5, "at_risk_share": 1.0, "unique_rows": 0}
    # The pair (1, 2) is all flu; of (3, 4) he guesses one of the two.
    assert found["after"]["attribute"]["ill"] == {"mean": 0.75, "max": 1.0, "guess_success": 0.75, "certain_rows": 2}
    assert found["match_sizes"]["before"][0] == {"from": 1, "to": 1, "rows": 4}
    assert found["match_sizes"]["after"][1] == {"from": 2, "to": 2, "rows": 4}
    assert sum(found["attribute_histogram"]["ill"]["after"]) == 4


def test_the_worst_rows_come_first_by_their_number_in_the_input() -> None:
    # Row 1 is dropped for its missing age, so the numbers of the others have a gap.
    data = pa.table({"age": [1, None, 2, 3, 4, 5], "ill": ["flu", "flu", "cold", "flu", "flu", "gout"]})
    roles = uc.Schema(quasi_identifiers=["age"], sensitive="ill", missing="drop")
    run = uc.publish(data, roles, uc.Mondrian(k=2))
    worst = uc.attack(run).worst_rows()
    data_rows = data.to_pylist()
    published = run.release.table().to_pylist()
    kept = [0, 2, 3, 4, 5]
    plain = PlainLinkage([data_rows[i] for i in kept], published, shares_of_rows(published, ["ill"]), ["age"], ["ill"])
    expected = sorted(
        zip(plain.attribute["ill"], plain.matches, kept, strict=True), key=lambda one: (-one[0], one[1], one[2])
    )
    assert [(one["row"], one["matches"]) for one in worst] == [(row, matches) for _, matches, row in expected]
    assert [one["attribute"]["ill"] for one in worst] == pytest.approx([float(share) for share, _, _ in expected])
    assert len(uc.attack(run).worst_rows(2)) == 2


def test_people_who_are_not_in_the_release_fit_nowhere() -> None:
    roles = uc.Schema(quasi_identifiers=["age"], sensitive="ill")
    run = uc.publish(pa.table({"age": [1, 2], "ill": ["flu", "cold"]}), roles, uc.Mondrian(k=2))
    others = uc.Table.from_arrow(pa.table({"age": [2, 9, 1], "ill": ["gout", "flu", "cold"]}), roles)
    after = uc.Linkage().run(Case(others, run.release)).after
    assert after.matches.tolist() == [2, 0, 2]
    assert after.identity.tolist() == [0.5, 0.0, 0.5]
    assert after.attribute["ill"].tolist() == [0.0, 0.0, 0.5]
    assert after.hits["ill"].tolist() == [0.0, 0.0, 0.5]


def test_without_a_sensitive_column_only_identity_is_told() -> None:
    run = uc.publish(pa.table({"age": [1, 2, 3, 4]}), uc.Schema(quasi_identifiers=["age"]), uc.Mondrian(k=2))
    found = uc.attack(run).to_dict()
    assert found["after"]["attribute"] == {}
    assert [one["row"] for one in found["worst_rows"]] == [0, 1, 2, 3]


def test_columns_nobody_can_know_are_refused() -> None:
    run = uc.publish(random_people(np.random.default_rng(54)), schema(), uc.Mondrian(k=3))
    with pytest.raises(ParameterError, match="Did you mean `town`"):
        uc.attack(run, uc.Linkage(known=("towm", "age")))
    with pytest.raises(ParameterError, match="`ill` is not known"):
        uc.attack(run, uc.Linkage(known=("ill",)))
    with pytest.raises(ParameterError, match="at least one known column"):
        uc.attack(run, uc.Linkage(known=()))


def test_a_cell_that_means_nothing_is_named() -> None:
    columns = (PublishedColumn("age", "quasi-identifier", "interval"), PublishedColumn("ill", "sensitive", "value"))
    release = Release("x", {}, (PublishedTable("table", columns, pa.table({"age": ["[7, 3]"], "ill": ["flu"]})),), True)
    original = uc.Table.from_arrow(
        pa.table({"age": [3], "ill": ["flu"]}), uc.Schema(quasi_identifiers=["age"], sensitive="ill")
    )
    with pytest.raises(DataError, match="Cells of `age` stand for no value of the original column: 1 value"):
        uc.Linkage().run(Case(original, release))


@pytest.mark.parametrize(
    ("cell", "value", "inside"),
    [
        ("[20, 29]", 29, True),
        ("[20, 29]", 30, False),
        ("{cook, smith}", "smith", True),
        ("{cook, smith}", "clerk", False),
        ('{cook, ""}', None, True),
        ("{cook, smith}", None, False),
        ("", None, True),
        (None, None, True),
        ("", 3, False),
        ("[20, 29]", None, False),
        ("*", None, True),
        ("South", "Ulm", True),
        ("South", "Kiel", False),
        ("Ulm", "Ulm", True),
        (34, 34, True),
        (34, 35, False),
    ],
)
def test_the_oracle_reads_cells(cell: Any, value: Any, inside: bool) -> None:
    hierarchy = TOWNS if isinstance(value, str) and value in TOWNS.leaves else None
    assert fits(cell, value, hierarchy) == inside


def test_the_comparison_notices_an_attacker_who_overlooks_a_row() -> None:
    data = random_people(np.random.default_rng(55))
    run = uc.publish(data, schema(), uc.Mondrian(k=3))
    published = run.release.table().to_pylist()[:-1]
    plain = PlainLinkage(
        data.to_pylist(),
        published,
        shares_of_rows(published, ["ill"]),
        ["age", "town", "job"],
        ["ill"],
        {"town": TOWNS},
    )
    with pytest.raises(AssertionError):
        same(uc.attack(run).after, plain)
