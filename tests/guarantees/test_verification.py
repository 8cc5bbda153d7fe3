import json
import math
from dataclasses import replace

import pyarrow as pa
import pytest

from undercover.errors import ParameterError
from undercover.guarantees.delta_disclosure import DeltaDisclosure
from undercover.guarantees.k_anonymity import KAnonymity
from undercover.guarantees.l_diversity import LDiversity
from undercover.guarantees.requirements import guarantee_from_mapping, guarantees_from_requirements
from undercover.guarantees.t_closeness import TCloseness
from undercover.guarantees.verify import Verification, verify, verify_table
from undercover.model.finding import Finding
from undercover.model.form import Drawn
from undercover.model.hierarchy import Hierarchy
from undercover.model.release import PublishedColumn, PublishedTable, Release
from undercover.model.schema import Column

COLUMNS = (
    PublishedColumn("age", "quasi-identifier", "interval"),
    PublishedColumn("sex", "quasi-identifier", "set"),
    PublishedColumn("ill", "sensitive", "value"),
)
DATA = {
    "age": ["[20, 29]"] * 3 + ["[30, 39]"] * 3,
    "sex": ["F"] * 3 + ["{F, M}"] * 3,
    "ill": ["flu", "cold", "gout", "flu", "cold", "flu"],
}
CLAIMS = (KAnonymity(k=3), LDiversity(l=1.5), TCloseness(t="1/3"), DeltaDisclosure(delta=1))


def release(data=DATA, claims=CLAIMS):
    bare = Release("mondrian", {}, (PublishedTable("table", COLUMNS, pa.table(data)),), True)
    return bare.with_guarantees(verify(bare, claims).manifest_entries())


def changed(original, data):
    return Release("mondrian", {}, (PublishedTable("table", COLUMNS, pa.table(data)),), True).with_guarantees(
        original.guarantees
    )


def test_a_release_holds_what_it_claims_after_a_trip_through_json():
    made = release(claims=CLAIMS[:3])
    stored = tuple(json.loads(json.dumps(list(made.guarantees))))
    checked = verify(made.with_guarantees(stored))
    assert checked.holds
    assert not checked.problems
    assert [finding.actual for finding in checked.findings] == [3, 1.5, pytest.approx(1 / 6)]
    assert (checked.classes, checked.rows, checked.suppressed_rows) == (2, 6, 0)
    json.dumps(checked.to_dict(), allow_nan=False)


def test_the_manifest_says_nothing_about_single_classes():
    for entry in release().guarantees:
        assert not {"examples", "violators", "violating_classes", "violating_rows"} & set(entry)


def test_infinity_survives_json():
    made = release(claims=[DeltaDisclosure(delta=1)])
    assert made.guarantees[0]["actual"] == "inf"
    json.dumps(made.guarantees, allow_nan=False)
    checked = verify(made)
    assert (checked.findings[0].actual, checked.problems) == (math.inf, ())


def test_tampering_is_noticed():
    made = release(claims=CLAIMS[:3])
    one_cell = {**DATA, "age": ["[20, 28]", *DATA["age"][1:]]}
    one_sensitive = {**DATA, "ill": ["cold", *DATA["ill"][1:]]}
    removed = {name: cells[1:] for name, cells in DATA.items()}
    swapped = {**DATA, "ill": ["flu", "flu", "gout", "cold", "cold", "flu"]}  # cold for flu between the classes
    for data in (one_cell, one_sensitive, removed, swapped):
        assert not verify(changed(made, data)).holds


def test_a_manifest_that_promises_more_than_there_is():
    made = release()
    entry = {**made.guarantees[0], "actual": 4}
    checked = verify(made.with_guarantees((entry,)))
    assert checked.findings[0].holds
    assert not checked.holds
    assert checked.problems == ("k-anonymity: the manifest says actual = 4, the published tables give 3.",)
    assert not verify(made.with_guarantees(({**made.guarantees[0], "holds": False},))).holds
    assert not verify(made.with_guarantees(({**made.guarantees[0], "required": 2},))).holds


def test_a_claim_without_findings_is_checked_too():
    assert verify(release().with_guarantees(({"name": "k-anonymity", "k": 3},))).holds
    assert not verify(release().with_guarantees(({"name": "k-anonymity", "k": 4},))).holds


def test_claims_that_need_the_private_run_do_not_fail():
    claim = {
        "name": "delta-probability",
        "delta": "1/5",
        "required": 0.2,
        "actual": 0.1,
        "holds": True,
        "needs": "private",
    }
    checked = verify(replace(release().with_guarantees((claim,)), form=Drawn()))
    assert checked.findings[0].holds is None
    assert checked.findings[0].to_dict()["needs"] == "private"
    assert checked.holds is None


def test_claims_nobody_can_check_fail():
    for claim in (
        {"name": "trust-me"},
        {"name": "k-anonymity"},
        {"name": "l-diversity", "l": 2, "column": "income"},
        {"name": "k-anonymity", "k": 9, "needs": "private"},
    ):
        assert not verify(release().with_guarantees((claim,))).holds, claim


def test_a_guarantee_nobody_here_knows_is_not_checked_and_never_said_to_hold():
    for more in ({}, {"needs": "private"}):
        claim = {"name": "trust-me", "x": 1, "required": 1, "actual": 2, "holds": True, **more}
        checked = verify(release().with_guarantees((claim,)))
        (finding,) = checked.findings
        assert (finding.holds, finding.actual, finding.parameters) == (None, None, {"x": 1})
        assert "a package that offers this guarantee" in repr(finding)
        assert not checked.holds
        assert "trust-me was not checked" in checked.problems[0]


def test_problems_found_elsewhere_make_it_fail():
    checked = verify(release(), problems=["table.csv: hash differs from the manifest"])
    assert not checked.holds
    assert checked.to_dict()["problems"] == ["table.csv: hash differs from the manifest"]
    assert "1 problems" in repr(checked)


def test_more_findings_can_be_added():
    checked = Verification(()).extended([Finding("rows-covered", {}, 3, 2, False)], ["one thing"])
    assert [failure.name for failure in checked.failures] == ["rows-covered"]
    assert checked.problems == ("one thing",)


def test_a_table_nobody_here_made():
    data = pa.table({"age": ["20-29", "20-29", "*"], "zip": ["5*", "5*", "*"], "ill": ["flu", "cold", "flu"]})
    checked = verify_table(data, ["age", "zip"], ["ill"], [KAnonymity(k=2), LDiversity(l=2)])
    assert checked.holds
    assert checked.suppressed_rows == 1
    assert not verify_table(data, ["age", "zip"], ["ill"], [KAnonymity(k=3)]).holds
    with pytest.raises(ParameterError, match="no column is sensitive"):
        verify_table(data, ["age", "zip"], [], [LDiversity(l=2)])


def test_the_worst_classes_are_listed_worst_first():
    ages = [str(age) for age in range(30) for _ in range(age + 1)]
    checked = verify_table(pa.table({"age": ages}), ["age"], [], [KAnonymity(k=25)])
    found = checked.findings[0]
    assert (found.violating_classes, found.violating_rows) == (24, sum(range(1, 25)))
    assert [example["size"] for example in found.examples] == list(range(1, 11))
    assert found.examples[0]["cells"] == {"age": "0"}


@pytest.mark.parametrize(
    ("actual", "sense", "text"),
    [
        (3.4567, "at least", "3.45"),
        (3.9999, "at least", "3.99"),
        (3.0, "at least", "3"),
        (12.349, "at least", "12.34"),
        (0.1234, "at most", "0.124"),
        (0.12, "at most", "0.12"),
        (0.0012341, "at most", "0.00124"),
        (1 / 3, "at most", "0.334"),
        (0.3, "at most", "0.3"),
        (7, "at least", "7"),
        (100000000.0, "at most", "100000000"),
    ],
)
def test_people_never_see_more_than_there_is(actual, sense, text):
    finding = Finding("x", {}, 1, actual, True, sense=sense)
    assert finding.shown() == text
    assert finding.to_dict()["actual"] == actual


def test_from_mappings():
    assert guarantee_from_mapping({"name": "l-diversity", "l": "5/2"}).parameters() == {"l": "5/2", "form": "frequency"}
    assert guarantee_from_mapping(
        {"name": "t-closeness", "t": 0.2, "distance": "ordered", "order": ["a", "b"]}
    ).order == (
        "a",
        "b",
    )
    with pytest.raises(ParameterError, match="Did you mean `k-anonymity`"):
        guarantee_from_mapping({"name": "k-anonimity", "k": 5})
    with pytest.raises(ParameterError, match="There are: `t`, `distance`"):
        guarantee_from_mapping({"name": "t-closeness", "t": 0.2, "metric": "ordered"})


def test_from_the_command_line():
    found = guarantees_from_requirements(
        [
            "k=5",
            "l=3",
            "distinct-l=4",
            "entropy-l=2.5",
            "recursive-l=3,c=2",
            "t=1/5",
            "ordered-t=.2",
            "delta=1",
            "beta=2",
        ]
    )
    assert [(guarantee.name, *guarantee.parameters().values()) for guarantee in found] == [
        ("k-anonymity", 5),
        ("l-diversity", 3, "frequency"),
        ("l-diversity", 4, "distinct"),
        ("l-diversity", 2.5, "entropy"),
        ("l-diversity", 3, "recursive", 2),
        ("t-closeness", "1/5", "equal"),
        ("t-closeness", 0.2, "ordered"),
        ("delta-disclosure", 1),
        ("beta-likeness", 2, False),
    ]
    tree = Hierarchy([("a", "x"), ("b", "x")])
    (by_tree,) = guarantees_from_requirements(["hierarchical-t=0.1"], columns={"ill": Column(hierarchy=tree)})
    assert by_tree.parameters()["distance"] == "hierarchical"


@pytest.mark.parametrize(
    ("requirements", "message"),
    [
        (["kk=5"], "Did you mean `k`"),
        (["k"], "not of the form key=number"),
        (["k="], "not of the form"),
        (["k=five"], "Got 'five' instead"),
        (["k=2.5"], "Got 2.5 instead"),
        (["t=1/0"], "Got '1/0' instead"),
        (["recursive-l=3"], "recursive-l needs one c"),
        (["c=3"], "belongs to recursive-l"),
        (["hierarchical-t=0.1"], "needs a hierarchy of"),
    ],
)
def test_bad_requirements(requirements, message):
    with pytest.raises(ParameterError, match=message):
        guarantees_from_requirements(requirements)


def test_bad_requirements_are_reported_together():
    with pytest.raises(ParameterError) as caught:
        guarantees_from_requirements(["k=0", "t=7", "zz=1"])
    assert len(caught.value.problems) == 3
