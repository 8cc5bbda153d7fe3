"""The P_match attack against a loop over subsets, people and published rows, in fractions."""

from collections import Counter
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from plain_linkage import fits, shares_of_buckets, shares_of_rows

import undercover as uc
from undercover.attacks.partial.profile import profile
from undercover.engines.local import LocalEngine
from undercover.errors import DataError, ParameterError
from undercover.forms import read
from undercover.forms.case import Case
from undercover.model.form import Drawn
from undercover.threads import however_little

TOWNS = uc.Hierarchy([("Ulm", "South", "*"), ("Wien", "South", "*"), ("Kiel", "North", "*"), ("Oslo", "North", "*")])
KNOWN = ("age", "town", "job")
SCHEMA = uc.Schema(quasi_identifiers=KNOWN, sensitive="ill", columns={"town": uc.Column(hierarchy=TOWNS)})
PLAIN_SCHEMA = uc.Schema(quasi_identifiers=KNOWN, sensitive="ill")

Row = dict[str, Any]


def random_people(seed: int, n: int = 36) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "age": rng.integers(20, 32, n),
            "town": [TOWNS.leaves[i] for i in rng.integers(0, 4, n)],
            "job": [("cook", "smith", "clerk")[i] for i in rng.integers(0, 3, n)],
            "ill": [("flu", "cold", "gout", "rash", "fever", "mumps")[i % 6] for i in rng.permutation(n)],
        }
    )


def plain(
    people: list[Row],
    published: list[Row],
    shares: list[dict[str, dict[Any, Fraction]]],
    own: list[int] | None,
    p: Fraction,
    trees: dict[str, uc.Hierarchy],
) -> tuple[list[Fraction], list[Fraction], list[Fraction]]:
    """Identity, attribute and right guesses of everybody; ``own`` is None where the own row always fits."""
    identity, attribute, hits = ([Fraction(0)] * len(people) for _ in range(3))
    for size in range(len(KNOWN) + 1):
        weight = p**size * (1 - p) ** (len(KNOWN) - size)
        for subset in combinations(KNOWN, size):
            for t, person in enumerate(people):
                rows = [
                    i
                    for i, row in enumerate(published)
                    if all(fits(row[name], person[name], trees.get(name)) for name in subset)
                ]
                if not rows:
                    continue
                if own is None or own[t] in rows:
                    identity[t] += weight / len(rows)
                belief: Counter[Any] = Counter()
                for i in rows:
                    for value, share in shares[i]["ill"].items():
                        belief[value] += share / len(rows)
                best = [value for value, share in belief.items() if share == max(belief.values())]
                attribute[t] += weight * belief[person["ill"]]
                hits[t] += weight * Fraction(person["ill"] in best, len(best))
    return identity, attribute, hits


def assert_same(run: uc.Run, people: pa.Table, trees: dict[str, uc.Hierarchy]) -> None:
    if len(run.release.tables) == 1:
        published = run.release.table().to_pylist()
        shares = shares_of_rows(published, ["ill"])
    else:
        published, sat = (run.release.table(name).to_pylist() for name in ("qit", "sat"))
        shares = shares_of_buckets(published, sat, "ill")
    own = read(run.release).own_rows(run)
    for p in (0.0, 0.25, 1.0):
        found = uc.attack(run, uc.Linkage(p_match=p))
        expected = plain(
            people.to_pylist(), published, shares, None if own is None else own.tolist(), Fraction(p), trees
        )
        for ours, theirs in zip(
            (found.after.identity, found.after.attribute["ill"], found.after.hits["ill"]), expected, strict=True
        ):
            assert ours == pytest.approx([float(value) for value in theirs], abs=1e-12)
        rows = people.to_pylist()
        raw = plain(rows, rows, shares_of_rows(rows, ["ill"]), None, Fraction(p), {})
        assert found.before.identity == pytest.approx([float(value) for value in raw[0]], abs=1e-12)


@pytest.mark.parametrize("keep_order", [False, True])
@pytest.mark.parametrize("columns", ["observed", "integer_range"])
@pytest.mark.parametrize("seed", [0, 1])
def test_drawn_values(seed: int, columns: str, keep_order: bool) -> None:
    people = random_people(seed)
    method = uc.MutualCover(variant="paper", delta="1/3", l=3, columns=columns, keep_order=keep_order)
    assert_same(uc.publish(people, PLAIN_SCHEMA, method, seed=seed), people, {})


@pytest.mark.parametrize("schema", [SCHEMA, PLAIN_SCHEMA])
@pytest.mark.parametrize("seed", [0, 1])
def test_generalised_cells(seed: int, schema: uc.Schema) -> None:
    people = random_people(seed)
    assert_same(uc.publish(people, schema, uc.Mondrian(k=3, l=2)), people, {"town": TOWNS} if schema is SCHEMA else {})


@pytest.mark.parametrize("method", [uc.Anatomy(l=3), uc.CrossBucket(k=2, l=2)])
def test_two_tables(method: Any) -> None:
    people = random_people(3)
    assert_same(uc.publish(people, PLAIN_SCHEMA, method), people, {})


def test_the_brute_force_notices_a_row_that_is_taken_for_the_own() -> None:
    people = random_people(4)
    run = uc.publish(people, PLAIN_SCHEMA, uc.MutualCover(variant="paper", delta="1/3", l=3), seed=1)
    published = run.release.table().to_pylist()
    shares = shares_of_rows(published, ["ill"])
    own = read(run.release).own_rows(run)
    assert own is not None
    right, wrong = (
        plain(people.to_pylist(), published, shares, rows, Fraction(1, 2), {})[0]
        for rows in (own.tolist(), np.roll(own, 1).tolist())
    )
    found = uc.attack(run, uc.Linkage(p_match=0.5)).after.identity
    assert found == pytest.approx([float(value) for value in right], abs=1e-12)
    assert found != pytest.approx([float(value) for value in wrong], abs=1e-12)


def test_by_hand() -> None:
    # Two columns; person 0 is (1, a). Released in input order: (1, b), (2, a), (1, a), (2, b).
    roles = uc.Schema(quasi_identifiers=["x", "y"], sensitive="ill")
    people = uc.Table.from_arrow(pa.table({"x": [1, 1, 2, 2], "y": list("abab"), "ill": list("wwzz")}), roles)
    from undercover.model.release import PublishedColumn, PublishedTable, Release

    columns = tuple(PublishedColumn(name, "quasi-identifier", "value") for name in ("x", "y"))
    columns += (PublishedColumn("ill", "sensitive", "value"),)
    data = pa.table({"x": [1, 2, 1, 2], "y": list("baab"), "ill": list("wwzz")})
    release = Release(
        "mutual-cover",
        {"keep_order": True},
        (PublishedTable("table", columns, data),),
        False,
        form=Drawn(order="input"),
    )
    found = uc.Linkage(p_match=0.5).run(Case(people, release))
    # {}: 1/4. {x}: rows 0, 2, own among them: 1/2. {y}: rows 1, 2, not his: 0. {x, y}: row 2, not his: 0.
    assert found.after.identity[0] == (1 / 4 + 1 / 2) / 4
    # Shares of w: 1/2, 1/2, 1/2, 0.
    assert found.after.attribute["ill"][0] == pytest.approx((1 / 2 + 1 / 2 + 1 / 2) / 4)
    # Person 3 is (2, b), released as (2, b): 1/4, 1/2, 1/2, 1.
    assert found.after.identity[3] == pytest.approx((1 / 4 + 1 / 2 + 1 / 2 + 1) / 4)
    # All values at once: only person 3 is found.
    assert uc.Linkage().run(Case(people, release)).after.identity.tolist() == [0, 0, 0, 1]


@however_little()
def test_threads_do_not_change_what_is_found() -> None:
    run = uc.publish(random_people(5, 120), SCHEMA, uc.Mondrian(k=3))
    assert run.original is not None
    one, three = (
        uc.Linkage(p_match=0.6).run(Case(run.original, run.release, engine=LocalEngine(threads=threads))).to_dict()
        for threads in (1, 3)
    )
    assert one == three


def test_the_sweep_has_the_papers_values_and_the_one_asked_for() -> None:
    run = uc.publish(random_people(6), PLAIN_SCHEMA, uc.MutualCover(variant="paper", delta="1/3", l=3))
    found = uc.attack(run, uc.Linkage(p_match=0.65)).to_dict()
    assert [entry["p"] for entry in found["sweep"]] == [0.3, 0.5, 0.65, 0.7, 0.8, 0.9, 1.0]
    assert found["sweep"][2]["identity"]["mean"] == pytest.approx(found["after"]["identity"]["mean"])
    assert "probability 0.65" in found["story"]
    assert "match_sizes" not in found
    everything = uc.attack(run).after
    assert found["sweep"][-1]["identity"]["mean"] == pytest.approx(everything.identity.mean())


def test_identity_alone_where_nothing_is_sensitive() -> None:
    run = uc.publish(pa.table({"age": [1, 2, 3, 4]}), uc.Schema(quasi_identifiers=["age"]), uc.Mondrian(k=2))
    found = uc.attack(run, uc.Linkage(p_match=0.5))
    assert found.after.identity.tolist() == [0.375] * 4
    assert found.to_dict()["after"]["attribute"] == {}


def test_a_release_alone_does_not_tell_whose_row_it_is() -> None:
    people = random_people(7)
    run = uc.publish(people, PLAIN_SCHEMA, uc.MutualCover(variant="paper", delta="1/3", l=3))
    assert run.original is not None
    for attacker in (uc.Linkage(), uc.Linkage(p_match=0.5)):
        with pytest.raises(DataError, match="stays in the private run"):
            attacker.run(Case(run.original, run.release))


def test_what_cannot_be_asked() -> None:
    with pytest.raises(ParameterError, match="p_match"):
        uc.Linkage(p_match=-0.1)
    wide = pa.table({f"c{i}": [0, 1] for i in range(17)})
    table = uc.Table.from_arrow(wide, uc.Schema(quasi_identifiers=wide.column_names))
    run = uc.publish(wide, table.schema, uc.Mondrian(k=2))
    with pytest.raises(ParameterError, match="at most 16 known columns"):
        uc.attack(run, uc.Linkage(p_match=0.5))
    assert profile(read(run.release), table, ["c0"]).at(1.0)[0].tolist() == [0.5, 0.5]
