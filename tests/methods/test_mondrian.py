"""Mondrian: hand-computed tables, every guarantee verified by other code, parameters checked on construction."""

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import undercover as uc
from undercover.engines.local import LocalEngine
from undercover.errors import ParameterError, UnreachableError
from undercover.guarantees.k_anonymity import KAnonymity
from undercover.guarantees.l_diversity import LDiversity
from undercover.guarantees.t_closeness import TCloseness
from undercover.methods.mondrian.method import Mondrian
from undercover.parameters import make, to_mapping
from undercover.randomness import Randomness

Uniform = Callable[[Sequence[int]], bool]

TOWNS = uc.Hierarchy([("Ulm", "South", "*"), ("Wien", "South", "*"), ("Kiel", "North", "*"), ("Oslo", "North", "*")])
ILLS = uc.Hierarchy(
    [("flu", "airway", "*"), ("cold", "airway", "*"), ("ulcer", "belly", "*"), ("gastritis", "belly", "*")]
)


def people(n: int = 160) -> pa.Table:
    rng = np.random.default_rng(12)
    return pa.table(
        {
            "age": rng.integers(20, 60, n),
            "town": [TOWNS.leaves[i] for i in rng.integers(0, 4, n)],
            "job": [("cook", "smith", "clerk")[i] for i in rng.integers(0, 3, n)],
            "ill": [ILLS.leaves[i] for i in rng.integers(0, 4, n)],
            "pay": rng.integers(1, 9, n) * 10,
        }
    )


SCHEMA = uc.Schema(
    quasi_identifiers=["age", "town", "job"],
    sensitive="ill",
    columns={"town": uc.Column(hierarchy=TOWNS), "ill": uc.Column(hierarchy=ILLS)},
)
PAY = uc.Schema(quasi_identifiers=["age", "town", "job"], sensitive="pay")

FORMS = [
    ({}, SCHEMA, []),
    ({"l": 2}, SCHEMA, [LDiversity(l=2)]),
    ({"l": 2.5}, SCHEMA, [LDiversity(l=2.5)]),
    ({"l": 3, "diversity": "distinct"}, SCHEMA, [LDiversity(l=3, form="distinct")]),
    ({"l": 2.5, "diversity": "entropy"}, SCHEMA, [LDiversity(l=2.5, form="entropy")]),
    ({"l": 2, "diversity": "recursive", "c": 2}, SCHEMA, [LDiversity(l=2, form="recursive", c=2)]),
    ({"t": 0.3}, SCHEMA, [TCloseness(t=0.3)]),
    ({"t": "1/4", "distance": "ordered"}, PAY, [TCloseness(t="1/4", distance="ordered")]),
    ({"t": 0.3, "distance": "hierarchical"}, SCHEMA, [TCloseness(t=0.3, distance="hierarchical", hierarchy=ILLS)]),
    ({"l": 2, "t": 0.4}, SCHEMA, [LDiversity(l=2), TCloseness(t=0.4)]),
]


@pytest.mark.parametrize("recoding", ["boxes", "regions"])
@pytest.mark.parametrize(("parameters", "schema", "promised"), FORMS)
def test_every_form_is_published_and_verified(
    parameters: dict[str, Any], schema: uc.Schema, promised: list[Any], recoding: Any
) -> None:
    run = uc.publish(people(), schema, Mondrian(k=4, recoding=recoding, **parameters))
    found = uc.verify(run.release)
    assert found.holds
    assert [finding.name for finding in found.findings] == ["k-anonymity", *(promise.name for promise in promised)]
    # Asked anew, without the claims of the release, against the original too.
    bare = run.release.with_guarantees(())
    assert uc.verify(bare, also=[KAnonymity(k=4), *promised]).holds
    assert uc.verify(run, original=people()).holds
    assert run.groups.count > 1
    assert found.rows == 160
    assert run.release.algorithm_safe == (not parameters)
    assert bool(run.release.warnings) == bool(parameters)


def test_a_check_costs_groups() -> None:
    alone, checked = (uc.publish(people(), SCHEMA, method) for method in (Mondrian(k=2), Mondrian(k=2, l=3)))
    assert checked.groups.count < alone.groups.count
    assert not uc.verify(alone.release, also=[LDiversity(l=3)]).holds


def test_six_people_by_hand() -> None:
    # By loss the cut lies in the gap between 23 and 50; each side is then one box.
    data = pa.table({"age": [20, 50, 23, 52, 21, 51], "sex": list("FMFMFF"), "ill": list("abcabc")})
    schema = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="ill")
    run = uc.publish(data, schema, Mondrian(k=3))
    assert Counter(zip(*run.release.table().select(["age", "sex"]).to_pydict().values(), strict=True)) == {
        ("[20, 23]", "F"): 3,
        ("[50, 52]", "*"): 3,
    }
    assert sorted(run.release.table()["ill"].to_pylist()) == sorted("abcabc")
    assert run.groups.labels[0] == run.groups.labels[2] == run.groups.labels[4]


def test_regions_reach_to_the_edge_and_boxes_do_not() -> None:
    data = pa.table({"age": [20, 21, 40, 41], "sex": list("FFFM")})
    schema = uc.Schema(quasi_identifiers=["age", "sex"])
    boxes, regions = (uc.publish(data, schema, Mondrian(k=2, recoding=how)) for how in ("boxes", "regions"))
    cells = [
        set(zip(*run.release.table().select(["age", "sex"]).to_pydict().values(), strict=True))
        for run in (boxes, regions)
    ]
    assert cells == [{("[20, 21]", "F"), ("[40, 41]", "*")}, {("[20, 21]", "*"), ("[40, 41]", "*")}]


def test_a_column_with_a_hierarchy_is_published_as_its_nodes() -> None:
    data = pa.table({"town": ["Ulm", "Wien", "Kiel", "Oslo"] * 2 + ["Oslo"] * 3})
    schema = uc.Schema(quasi_identifiers=["town"], columns={"town": uc.Column(hierarchy=TOWNS)})
    release = uc.publish(data, schema, Mondrian(k=3)).release
    assert release.published().form("town") == "node"
    # Kiel alone is two rows, so North stays whole; so does South.
    assert Counter(release.table()["town"].to_pylist()) == {"South": 4, "North": 7}
    finer = uc.publish(data, schema, Mondrian(k=2)).release
    assert set(finer.table()["town"].to_pylist()) == {"Ulm", "Wien", "Kiel", "Oslo"}


def test_the_order_of_rows_in_a_class_is_uniform(uniform: Uniform) -> None:
    data = pa.table({"age": [1, 2, 3], "ill": ["a", "b", "c"]})
    table = uc.Table.from_arrow(data, uc.Schema(quasi_identifiers=["age"], sensitive="ill"))
    counts: Counter[tuple[str, ...]] = Counter()
    for seed in range(900):
        draft = Mondrian(k=3).anonymize(table, engine=LocalEngine(threads=1), randomness=Randomness(seed=seed))
        counts[tuple(draft.tables[0].data["ill"].to_pylist())] += 1
    assert uniform([counts[order] for order in permutations("abc")])


def test_several_sensitive_columns_are_each_protected() -> None:
    schema = uc.Schema(quasi_identifiers=["age", "job"], sensitive=["ill", "pay"])
    run = uc.publish(people(), schema, Mondrian(k=3, l=2))
    for column in ("ill", "pay"):
        assert uc.verify(run.release, also=[LDiversity(l=2, column=column)]).holds


def test_an_ordinal_sensitive_column_is_read_in_its_own_order() -> None:
    levels = ["none", "some", "grave"]
    data = people().append_column("level", pa.array([levels[i * i % 3] for i in range(160)]))
    schema = uc.Schema(
        quasi_identifiers=["age"], sensitive="level", columns={"level": uc.Column(kind="ordinal", domain=levels)}
    )
    run = uc.publish(data, schema, Mondrian(k=2, t=0.3, distance="ordered"))
    assert run.release.guarantees[1]["order"] == levels
    assert uc.verify(run.release).holds


@pytest.mark.parametrize(
    ("parameters", "problems"),
    [
        ({"k": 0}, ["'k' parameter of Mondrian must be an int in [1, inf). Got 0"]),
        ({"k": 2.0}, ["Got 2.0 instead"]),
        ({"k": True}, ["Got True instead"]),
        ({"k": 2, "l": 0.5}, ["'l' parameter"]),
        ({"k": 2, "l": 2.5, "diversity": "distinct"}, ["an int in [1, inf)"]),
        ({"k": 2, "l": 2, "diversity": "recursive"}, ["'c' parameter"]),
        ({"k": 2, "l": 2, "c": 2}, ["'c' parameter"]),
        ({"k": 2, "c": 2}, ["Give l too"]),
        ({"k": 2, "diversity": "entropy"}, ["Give l too"]),
        ({"k": 2, "distance": "ordered"}, ["Give t too"]),
        ({"k": 2, "t": 1.5}, ["'t' parameter"]),
        ({"k": 2, "t": float("nan")}, ["'t' parameter"]),
        ({"k": 2, "cut": "medain"}, ["Did you mean `median`?"]),
        ({"k": 0, "l": 0, "t": 7}, ["'k' parameter", "'l' parameter", "'t' parameter"]),
        (
            {"k": -1, "recoding": "box", "cut": "x", "diversity": "entropi", "distance": "equals"},
            ["Got -1", "`boxes`", "The 'cut' of Mondrian `x`", "`entropy`", "Did you mean `equal`?"],
        ),
    ],
)
def test_parameters_are_checked_on_construction_all_together(parameters: dict[str, Any], problems: list[str]) -> None:
    with pytest.raises(ParameterError) as caught:
        Mondrian(**parameters)
    for problem in problems:
        assert problem in str(caught.value)


def test_l_needs_a_sensitive_column() -> None:
    with pytest.raises(ParameterError, match="needs a sensitive column"):
        uc.publish(people(), uc.Schema(quasi_identifiers=["age"]), Mondrian(k=2, l=2))


def test_the_hierarchical_distance_needs_a_hierarchy() -> None:
    with pytest.raises(ParameterError, match="needs a hierarchy of `pay`"):
        uc.publish(people(), PAY, Mondrian(k=2, t=0.2, distance="hierarchical"))


@pytest.mark.parametrize(
    ("parameters", "best"),
    [
        ({"k": 161}, {"k": 160}),
        ({"k": 2, "l": 4.5}, None),
        ({"k": 2, "l": 5, "diversity": "distinct"}, {"l": 4.0, "column": "ill"}),
        ({"k": 2, "l": 4.1, "diversity": "entropy"}, None),
        ({"k": 2, "l": 5, "diversity": "recursive", "c": 3}, {"l": 4.0, "column": "ill"}),
    ],
)
def test_what_cannot_be_reached_says_what_can(parameters: dict[str, Any], best: dict[str, Any] | None) -> None:
    with pytest.raises(UnreachableError, match="cannot be reached") as caught:
        uc.publish(people(), SCHEMA, Mondrian(**parameters))
    assert caught.value.exit_code == 3
    assert caught.value.best
    if best is not None:
        assert caught.value.best == best
    reachable = {**parameters, **{key: value for key, value in caught.value.best.items() if key in ("k", "l")}}
    assert uc.verify(uc.publish(people(), SCHEMA, Mondrian(**reachable)).release).holds


def test_parameters_from_text_and_back() -> None:
    method = make("methods", "mondrian", {"k": "5", "l": "5/2", "t": "0.25", "cut": "median"})
    assert method == Mondrian(k=5, l=Fraction(5, 2), t=0.25, cut="median")
    again = make("methods", "mondrian", to_mapping(method))
    assert again == method
    with pytest.raises(ParameterError, match="mondrian needs `k`"):
        make("methods", "mondrian", {"cut": "median"})
    with pytest.raises(ParameterError, match=r"'k' parameter of Mondrian must be an int in \[1, inf\). Got 'many'"):
        make("methods", "mondrian", {"k": "many"})


def test_algorithm_safe_with_k_alone() -> None:
    assert Mondrian(k=3).algorithm_safe
    assert not Mondrian(k=3, l=2).algorithm_safe
    assert not Mondrian(k=3, t=0.5).algorithm_safe


def loss_of(method: Mondrian, schema: uc.Schema) -> float:
    run = uc.publish(people(), schema, method)
    assert uc.verify(run.release).holds
    return float(uc.measure(people(), run).to_dict()["loss"]["arx"]["weighted"])


def test_rows_are_moved_after_cutting_where_there_are_hierarchies() -> None:
    bare = uc.Schema(quasi_identifiers=["age", "town", "job"], sensitive="ill")
    for asked in ({"k": 4}, {"k": 4, "l": 2}):
        left, moved = (loss_of(Mondrian(refine=refine, **asked), SCHEMA) for refine in (False, True))
        assert moved < left
        assert loss_of(Mondrian(**asked), SCHEMA) == moved
        # Elsewhere it has to be asked for.
        left, moved = (loss_of(Mondrian(refine=refine, **asked), bare) for refine in (False, True))
        assert moved < left
        assert loss_of(Mondrian(**asked), bare) == left
    for other in ({"recoding": "regions"}, {"cut": "median"}):
        parts = [uc.publish(people(), SCHEMA, Mondrian(k=4, refine=refine, **other)) for refine in (None, False)]
        assert (parts[0].groups.labels == parts[1].groups.labels).all()


def test_the_choice_to_move_rows_is_written_down_and_read_back() -> None:
    assert make("methods", "mondrian", {"k": "5", "refine": "true"}) == Mondrian(k=5, refine=True)
    assert to_mapping(Mondrian(k=5, refine=False))["refine"] is False
    assert "refine" not in to_mapping(Mondrian(k=5))
    with pytest.raises(ParameterError, match="must be true or false"):
        Mondrian(k=5, refine="yes")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match='Give recoding="boxes"'):
        Mondrian(k=5, refine=True, recoding="regions")


def test_moves_with_k_alone_are_algorithm_safe_and_those_with_a_check_are_not() -> None:
    # Kiel was cut with Oslo and goes to Wien and Ulm, who have its job.
    towns = ["Oslo", "Wien", "Ulm", "Kiel", "Oslo", "Wien", "Wien"]
    data = pa.table({"town": towns, "job": list("acccbbb"), "ill": list("hghggfh")})
    schema = uc.Schema(quasi_identifiers=["town", "job"], sensitive="ill", columns={"town": uc.Column(hierarchy=TOWNS)})
    left, moved = (uc.publish(data, schema, Mondrian(k=2, refine=refine)) for refine in (False, None))
    assert left.groups.labels[3] == left.groups.labels[0] != left.groups.labels[1]
    assert moved.groups.labels[3] == moved.groups.labels[1] == moved.groups.labels[2]
    assert uc.attack(moved, uc.AlgorithmAware(trials=50)).safe
    checked = uc.publish(data, schema, Mondrian(k=2, l=2, diversity="distinct"))
    assert not checked.release.algorithm_safe
    assert not uc.attack(checked, uc.AlgorithmAware(trials=50)).safe


def test_cuts_cannot_be_followed_once_rows_were_moved() -> None:
    run = uc.publish(people(), SCHEMA, Mondrian(k=4, l=2))
    with pytest.raises(ParameterError, match="refine=False"):
        uc.attack(run, uc.Minimality())
    told = uc.attack(uc.publish(people(), SCHEMA, Mondrian(k=4, l=2, refine=False)), uc.Minimality()).to_dict()
    assert told["targets"] == 160
    # With k alone there is nothing to follow.
    assert uc.attack(uc.publish(people(), SCHEMA, Mondrian(k=4)), uc.Minimality()).to_dict()["gain"]["max"] == 0
