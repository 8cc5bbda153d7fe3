"""Mutual cover: the ten people of the paper, its promises on random tables, bad input, and what is published."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

import undercover as uc
from effort import examples
from undercover.errors import ParameterError, UnreachableError
from undercover.methods.mutual_cover.about import ABOUT
from undercover.model.run import Run
from undercover.parameters import make, to_mapping
from undercover.randomness import Randomness

pytestmark = pytest.mark.usefixtures("unjudged")

SCHEMA = uc.Schema(quasi_identifiers=["age", "sex", "town"], sensitive="ill", identifiers=["name"])


def people(n: int, seed: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "name": [f"Person-{i}" for i in range(n)],
            "age": rng.integers(18, 90, n),
            "sex": rng.choice(["f", "m"], n),
            "town": rng.choice(["a", "b", "c", "d", "e"], n),
            "ill": [f"d{i % 12}" for i in range(n)],
        }
    )


def published(run: Run) -> list[dict[str, Any]]:
    return run.release.table().to_pylist()


def test_the_ten_people_of_the_paper() -> None:
    example = uc.datasets.hospital("mutual-cover")
    run = uc.publish(example.table, example.schema, uc.MutualCover(variant="paper", delta="1/2", l=2), seed=3)
    original = example.table.to_pylist()
    rows = published(run)
    assert len(rows) == len(original)
    (sensitive,) = example.schema.sensitive
    assert Counter(row[sensitive] for row in rows) == Counter(row[sensitive] for row in original)
    for name in example.schema.quasi_identifiers:
        assert {row[name] for row in rows} <= {row[name] for row in original}


@examples(15)
@given(
    st.integers(40, 160),
    st.integers(0, 1000),
    st.sampled_from(["1/2", "1/3", "0.3", "1/5", "2/9"]),
    st.sampled_from(["resample", "paper", "off"]),
    st.sampled_from(["optimal", "uniform"]),
)
def test_delta_probability_holds_on_random_tables(n: int, seed: int, delta: Any, unchanged: str, tables: str) -> None:
    method = uc.MutualCover(variant="paper", delta=delta, l=5, unchanged=unchanged, tables=tables)  # type: ignore[arg-type]
    run = uc.publish(people(n, seed), SCHEMA, method, seed=seed)
    assert uc.verify(run).holds
    ill = run.original["ill"].codes
    for g in range(run.groups.count):
        counts = Counter(ill[run.groups.rows_of(g)].tolist())
        assert max(counts.values()) * 5 <= counts.total()


def test_values_stay_in_their_group_and_every_row_keeps_its_sensitive_value() -> None:
    data = people(200)
    run = uc.publish(data, SCHEMA, uc.MutualCover(variant="paper", delta="1/4", l=4), seed=2)
    rows = published(run)
    place = run.frames["published_rows"]["published"].to_numpy()
    original = data.to_pylist()
    for g in range(run.groups.count):
        members = run.groups.rows_of(g).tolist()
        for name in SCHEMA.quasi_identifiers:
            assert {rows[place[i]][name] for i in members} <= {original[i][name] for i in members}
    assert [rows[place[i]]["ill"] for i in range(200)] == [row["ill"] for row in original]


def test_no_row_that_can_change_is_published_as_it_was() -> None:
    data = people(300, 4)
    original = data.to_pylist()
    for unchanged in ("resample", "paper"):
        run = uc.publish(data, SCHEMA, uc.MutualCover(variant="paper", delta="1/3", l=3, unchanged=unchanged), seed=9)  # type: ignore[arg-type]
        place = run.frames["published_rows"]["published"].to_numpy()
        rows = published(run)
        same = [i for i in range(300) if all(rows[place[i]][c] == original[i][c] for c in SCHEMA.quasi_identifiers)]
        assert len(same) == run.diagnostics["rows_left_unchanged"]
        # Only where every attribute of the group is released with a single value is there nothing to change to.
        tables = run.frames["output_tables"].select(["group", "attribute", "output"]).to_pylist()
        outputs = Counter(
            (row["group"], row["attribute"]) for row in {tuple(row.items()): row for row in tables}.values()
        )
        for i in same:
            group = int(run.groups.labels[i])
            assert {outputs[group, name] for name in SCHEMA.quasi_identifiers} == {1}
        assert run.diagnostics["rows_that_came_through"] > 0


def test_order_is_kept_only_on_request() -> None:
    data = people(100)
    kept = uc.publish(data, SCHEMA, uc.MutualCover(variant="paper", delta="1/2", l=2, keep_order=True))
    assert kept.release.table().column("ill").to_pylist() == data["ill"].to_pylist()
    shuffled = uc.publish(data, SCHEMA, uc.MutualCover(variant="paper", delta="1/2", l=2))
    assert shuffled.release.table().column("ill").to_pylist() != data["ill"].to_pylist()
    assert sorted(shuffled.release.table().column("ill").to_pylist()) == sorted(data["ill"].to_pylist())


def test_whole_numbers_nobody_has_on_request() -> None:
    data = pa.table({"age": [20, 22, 24, 26, 28, 30], "ill": list("abcdef")})
    schema = uc.Schema(quasi_identifiers=["age"], sensitive="ill")
    ages = set()
    for seed in range(40):
        run = uc.publish(
            data, schema, uc.MutualCover(variant="paper", delta="1/4", l=6, columns="integer_range"), seed=seed
        )
        ages |= set(run.release.table()["age"].to_pylist())
    assert ages <= set(range(20, 31))
    assert ages - set(data["age"].to_pylist())


def test_whole_numbers_nobody_has_are_saved_and_measured(tmp_path: Path) -> None:
    data = uc.datasets.census(1200, seed=1).select(["age", "sex", "income"])
    data = data.filter(pc.equal(pc.bit_wise_and(data["age"].cast(pa.int64()), 1), 0))  # nobody is of an odd age
    schema = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="income")
    run = uc.publish(data, schema, uc.MutualCover(variant="paper", delta="1/4", l=4, columns="integer_range"), seed=1)
    assert set(run.release.table()["age"].to_pylist()) - set(data["age"].to_pylist())
    uc.save(run, tmp_path / "run")
    measured = uc.measure(run.original, run, query_error=uc.QueryError(queries=50))
    assert len(measured.query_errors) == 1
    assert np.isfinite(measured.query_errors[0].errors).all()
    assert measured.displacement is not None


def test_k_and_t_are_conditions_on_groups() -> None:
    data = people(600, 3)
    plain = uc.publish(data, SCHEMA, uc.MutualCover(variant="paper", delta="1/4", l=4), seed=1)
    larger = uc.publish(data, SCHEMA, uc.MutualCover(variant="paper", delta="1/4", l=4, k=40), seed=1)
    closer = uc.publish(data, SCHEMA, uc.MutualCover(variant="paper", delta="1/4", l=4, t=0.3), seed=1)
    assert plain.groups.sizes.min() < 40 <= larger.groups.sizes.min()
    overall = np.bincount(closer.original["ill"].codes) / 600
    for g in range(closer.groups.count):
        here = np.bincount(closer.original["ill"].codes[closer.groups.rows_of(g)], minlength=12)
        assert np.abs(here / here.sum() - overall).sum() / 2 <= 0.3 + 1e-12
    assert closer.groups.count < plain.groups.count


def test_tables_of_a_group_of_exactly_one_over_delta_rows() -> None:
    data = pa.table({"age": [20, 30, 40, 50], "ill": list("abcd")})
    schema = uc.Schema(quasi_identifiers=["age"], sensitive="ill")
    run = uc.publish(data, schema, uc.MutualCover(variant="paper", delta="1/4", l=4), seed=1)
    assert run.diagnostics["tables_by_origin"]["shared"] == 1
    assert uc.verify(run).holds


def test_hierarchies_give_the_distance_and_not_the_cut() -> None:
    towns = uc.Hierarchy([("a", "x"), ("b", "x"), ("c", "y"), ("d", "y"), ("e", "y")])
    schema = uc.Schema(quasi_identifiers=["town", "sex"], sensitive="ill", columns={"town": uc.Column(hierarchy=towns)})
    run = uc.publish(people(60, 8), schema, uc.MutualCover(variant="paper", delta="1/12", l=12), seed=1)
    assert uc.verify(run).holds
    assert set(run.release.table()["town"].to_pylist()) <= set("abcde")


def test_diagnostics_say_what_delta_does_not() -> None:
    run = uc.publish(people(500, 5), SCHEMA, uc.MutualCover(variant="paper", delta="1/5", l=5), seed=1)
    figures = run.diagnostics
    assert figures["largest_optimality_gap"] < 1e-6
    assert figures["effective_share"]["max"] >= 0.2
    assert 0 < figures["reidentification_by_one_value"]["mean"] <= figures["reidentification_by_one_value"]["max"] <= 1


def test_every_table_has_a_certificate() -> None:
    run = uc.publish(people(400, 7), SCHEMA, uc.MutualCover(variant="paper", delta="1/5", l=5), seed=1)
    certificates = run.frames["certificates"]
    assert certificates.num_rows == 3 * run.groups.count
    objective, bound = (certificates[name].to_numpy() for name in ("objective", "bound"))
    assert (bound <= objective + 1e-12).all()
    assert (objective - bound <= 1e-6 * np.maximum(objective, 1e-3)).all()
    assert set(certificates["attribute"].to_pylist()) == set(SCHEMA.quasi_identifiers)


def test_nothing_private_is_published(tmp_path: Any) -> None:
    run = uc.publish(people(200, 6), SCHEMA, uc.MutualCover(variant="paper", delta="1/4", l=4))
    uc.save(run, tmp_path / "out")
    public = b"".join(path.read_bytes() for path in (tmp_path / "out" / "public").iterdir())
    assert b"Person-" not in public
    assert b"published_rows" not in public
    assert (tmp_path / "out" / "private" / "output_tables.parquet").is_file()
    assert uc.verify(tmp_path / "out").holds
    assert uc.verify(tmp_path / "out" / "public").findings[0].holds is None


def test_not_eligible_is_refused_before_anything_is_cut() -> None:
    data = pa.table({"age": range(6), "ill": list("aaabcd")})
    with pytest.raises(UnreachableError) as refusal:
        uc.publish(
            data,
            uc.Schema(quasi_identifiers=["age"], sensitive="ill"),
            uc.MutualCover(variant="paper", delta="1/3", l=3),
        )
    assert refusal.value.best["l"] == 2


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"delta": 0, "l": 2}, "'delta'"),
        ({"delta": "3/2", "l": 2}, "'delta'"),
        ({"delta": "x", "l": 2}, "'delta'"),
        ({"delta": "1/2", "l": 1}, "'l' parameter"),
        ({"delta": "1/2", "l": 2, "k": 0}, "'k' parameter"),
        ({"delta": "1/2", "l": 2, "perturb": 0}, "'perturb' parameter"),
        ({"delta": "1/2", "l": 2, "columns": "all"}, "'columns' of MutualCover"),
        ({"delta": "1/2", "l": 2, "unchanged": "on"}, "'unchanged' of MutualCover"),
        ({"delta": "1/2", "l": 2, "t": 2}, "'t' parameter of MutualCover"),
        ({"delta": "1/20", "l": 10}, "needs groups of 20 rows"),
    ],
)
def test_parameters_are_checked(parameters: dict[str, Any], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        uc.MutualCover(**{"variant": "paper", **parameters})


def test_a_larger_k_makes_room_for_a_smaller_delta() -> None:
    assert uc.MutualCover(variant="paper", delta="1/20", l=10, k=20).delta == Fraction(1, 20)


def test_one_sensitive_column() -> None:
    data = pa.table({"x": [1, 2], "s": ["a", "b"], "t": ["a", "b"]})
    with pytest.raises(ParameterError, match="exactly one sensitive column"):
        uc.publish(
            data,
            uc.Schema(quasi_identifiers=["x"], sensitive=["s", "t"]),
            uc.MutualCover(variant="paper", delta=1, l=2),
        )


def test_from_text_and_back() -> None:
    method = make("methods", "mutual-cover", {"delta": "1/5", "l": "10", "variant": "paper", "keep_order": "true"})
    assert method == uc.MutualCover(variant="paper", delta=Fraction(1, 5), l=10, keep_order=True)
    assert make("methods", "mutual-cover", to_mapping(method)) == method


def test_groups_dealt_as_the_streamliner_does() -> None:
    data = people(400, 3)
    run = uc.publish(
        data, SCHEMA, uc.MutualCover(variant="paper", delta="1/4", l=5, partition="guided", strata="sex"), seed=1
    )
    rows = data.to_pylist()
    for group in range(run.groups.count):
        members = [rows[i] for i in run.groups.rows_of(group)]
        assert len({row["sex"] for row in members}) == 1
        assert 5 * max(Counter(row["ill"] for row in members).values()) <= len(members)
    assert uc.verify(run).holds
    assert [finding.holds for finding in uc.verify(run).findings] == [True]
    assert not run.release.algorithm_safe  # the tables are hidden, not only the groups
    assert run.release.parameters["strata"] == ("sex",)
    alike = uc.Streamliner(l=5, algorithm="guided", strata="sex").groups(run.original, Randomness(seed=1))
    assert alike.count == run.groups.count


@pytest.mark.parametrize("partition", ["mondrian", "guided"])
def test_the_published_table_alone_gives_people_away_to_whoever_knows_the_algorithm(partition: str) -> None:
    schema = uc.Schema(quasi_identifiers=["x"], sensitive="s")
    table = uc.Table.from_arrow(pa.table({"x": [0, 1, 2, 3], "s": ["a", "a", "b", "c"]}), schema)
    method = uc.MutualCover(variant="paper", delta="1/2", l=2, partition=partition)  # type: ignore[arg-type]
    found = uc.AlgorithmAware(trials=300).on(table, method, randomness=Randomness(seed=2))
    assert not found.safe
    assert found.leaks["rows"].posterior == 1
    assert found.leaks["rows"].alone <= Fraction(1, 2)


def test_uniform_tables_tell_nothing_unless_rows_stay_in_order() -> None:
    """Where everybody of a group releases every value with the same probability, rows tell nothing of their owners."""
    schema = uc.Schema(quasi_identifiers=["x"], sensitive="s")
    table = uc.Table.from_arrow(pa.table({"x": [0, 1, 2, 3], "s": ["a", "a", "b", "c"]}), schema)
    alike = uc.MutualCover(variant="paper", delta="1/2", l=2, partition="guided", tables="uniform", unchanged="off")
    assert uc.AlgorithmAware(trials=200).on(table, alike, randomness=Randomness(seed=2)).safe
    ordered = replace(alike, keep_order=True)
    assert "values in order" in uc.AlgorithmAware(trials=200).on(table, ordered, randomness=Randomness(seed=2)).leaks


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"partition": "kd"}, "'partition' of MutualCover `kd` is not known"),
        ({"strata": ["sex"]}, "`mondrian` of MutualCover has no strata"),
        ({"partition": "guided", "k": 20}, "takes no k"),
        ({"partition": "guided", "t": 0.2}, "takes no t"),
        ({"partition": "guided", "median_rule": "paper"}, "takes no median_rule"),
    ],
)
def test_partitions_that_cannot_be(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        uc.MutualCover(variant="paper", delta="1/5", l=10, **wrong)


def test_guided_groups_that_cannot_be_reached() -> None:
    data = pa.table({"sex": list("ffmm") * 3, "ill": ["a", "b", "a", "a"] * 3})
    schema = uc.Schema(quasi_identifiers=["sex"], sensitive="ill")
    with pytest.raises(UnreachableError, match="the largest feasible l is 1"):
        uc.publish(data, schema, uc.MutualCover(variant="paper", delta="1/2", l=2, partition="guided"))
    half = pa.table({"sex": list("ffmm") * 3, "ill": ["a", "b", "a", "c"] * 2 + ["b", "b", "c", "d"]})
    with pytest.raises(
        UnreachableError, match=r"strata: in stratum 1 by sex, the most frequent .* is 66\.7% of the rows"
    ):
        uc.publish(half, schema, uc.MutualCover(variant="paper", delta="1/2", l=2, partition="guided", strata=["sex"]))


def test_own_distances_are_named_and_not_published() -> None:
    towns = uc.Distances("abcdex", 7.125 * (1 - np.eye(6)))
    schema = uc.Schema(
        quasi_identifiers=["age", "sex", "town"], sensitive="ill", columns={"town": uc.Column(distance=towns)}
    )
    run = uc.publish(people(200), schema, uc.MutualCover(variant="paper", delta="1/4", l=5), seed=2)
    plain = uc.publish(people(200), SCHEMA, uc.MutualCover(variant="paper", delta="1/4", l=5), seed=2)
    assert run.release.table().equals(plain.release.table())  # all as far apart as the others, on another scale
    assert run.release.parameters["used"] == {"own_distances": ["town"]}
    assert run.diagnostics["own_distances"] == ["town"]
    assert "used" not in plain.release.parameters
    assert "7.125" not in str(run.release.parameters)


def crowd(n: int, ages: int) -> pa.Table:
    """n people of so many ages, all with different values: every age belongs to n / ages rows."""
    return pa.table(
        {
            "age": [20 + i % ages for i in range(n)],
            "ill": [f"v{''.join(chr(97 + int(digit)) for digit in str(i))}" for i in range(n)],
        }
    )


def test_a_delta_that_changes_nothing_is_refused() -> None:
    schema = uc.Schema(quasi_identifiers=["age"], sensitive="ill")
    with pytest.raises(UnreachableError, match=r"at least 6 rows of its group, and 5 would do.*below 1/6") as refused:
        uc.publish(crowd(24, 4), schema, uc.MutualCover(variant="paper", delta="1/5", l=13))
    assert "Lower l (or k)" in str(refused.value)
    with pytest.raises(UnreachableError, match="all rows agree"):
        uc.publish(crowd(24, 1), schema, uc.MutualCover(variant="paper", delta="1/5", l=13))
    with pytest.raises(UnreachableError, match="delta=1 changes nothing"):
        uc.publish(crowd(24, 24), schema, uc.MutualCover(variant="paper", delta=1, l=13))
    run = uc.publish(crowd(24, 4), schema, uc.MutualCover(variant="paper", delta="1/7", l=13), seed=1)
    assert run.diagnostics["share_of_tables_without_change"] == 0


@pytest.mark.parametrize("unchanged", ["resample", "off"])
def test_a_delta_that_says_little_is_said_loudly(unchanged: Any) -> None:
    # Ten ages of 30 people each need no cover; one person more is of an age of her own.
    data = pa.concat_tables([crowd(300, 10), pa.table({"age": [70], "ill": ["w"]})])
    schema = uc.Schema(quasi_identifiers=["age"], sensitive="ill")
    run = uc.publish(data, schema, uc.MutualCover(variant="paper", delta="1/5", l=160, unchanged=unchanged), seed=3)
    figures = run.diagnostics
    released = run.release.table()["age"].to_pylist()
    place = run.frames["published_rows"]["published"].to_numpy()
    changed = sum(released[place[i]] != age for i, age in enumerate(data["age"].to_pylist()))
    assert figures["share_of_cells_changed"] == changed / 301
    assert figures["share_of_rows_that_came_through"] == figures["rows_that_came_through"] / 301 > 0.9
    assert figures["largest_group"] == 301
    (said,) = (warning for warning in run.warnings if warning.startswith("delta=0.2 says little here"))
    assert "the largest group has 301 rows" in said
    assert ("were published so" in said) == (unchanged == "off")
    assert "says little" not in "".join(run.release.warnings)
    drawn = dict(ABOUT.stages(run))["Drawn"]
    assert "the largest group has 301 rows" in drawn
    assert ("they were left so" in drawn) == (unchanged == "off")


def test_a_delta_that_changes_much_is_not_warned_of() -> None:
    run = uc.publish(people(300, 4), SCHEMA, uc.MutualCover(variant="paper", delta="1/5", l=5), seed=1)
    assert not [warning for warning in run.warnings if "says little" in warning or "certified" in warning]
    assert "certified" not in dict(ABOUT.stages(run))["Output tables"]
