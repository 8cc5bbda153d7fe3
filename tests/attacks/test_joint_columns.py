"""Columns of several tables that are one: by spelling, by decision, in doubt; in the attack, the claim, the method."""

import pyarrow as pa
import pytest

import undercover as uc
from undercover.attacks.joint.attack import JointRelease
from undercover.errors import DataError, ParameterError, SchemaError, UndercoverError
from undercover.forms.classes import classes_of_table
from undercover.guarantees.joint.diversity import JointDiversity
from undercover.guarantees.joint.tables import foreign_table
from undercover.guarantees.verify import Verification
from undercover.model.published import Published, match_columns, spelling

ROWS = [(30, "H"), (45, "M"), (60, "H"), (60, "M"), (30, "M")]


def cut(column: str, at: int, name: str) -> Published:
    cells = [f"[0, {at - 1}]" if age < at else f"[{at}, 99]" for age, _ in ROWS]
    return foreign_table(pa.table({column: cells, "pay": [pay for _, pay in ROWS]}), name, sensitive="pay")


def words(column: str, cells: str, name: str) -> Published:
    return foreign_table(pa.table({column: list(cells), "pay": list("HMHM")}), name, sensitive="pay")


def test_age_beside_age_is_one_column() -> None:
    # Every class has both values, so different columns leave two; and yet who is from 40 to 49 has M.
    tables = [cut("Age", 40, "a"), cut("age", 50, "b")]
    with pytest.raises(DataError, match="share the quasi-identifier `Age`") as caught:
        JointRelease().run(tables)
    assert caught.value.problems[-1] == '`age` of `b` was taken for `Age`; if it is not, say distinct=["Age,age"].'
    with pytest.raises(DataError, match="cross"):
        JointRelease(shared="nested").run(tables)
    found = JointRelease(distinct=("Age,age",)).run(tables)
    assert found.l == 2  # somebody said that they are not one column
    assert (found.tables[1].quasi_identifiers, found.notes) == (("age of b",), ())
    same = JointRelease(shared="nested").run([cut("Age", 40, "a"), cut("age", 40, "b")])
    assert same.l == 2
    assert same.notes == ('`age` of `b` was taken for `Age`; if it is not, say distinct=["Age,age"].',)
    assert same.to_dict()["columns"] == list(same.notes)
    assert same.notes[0] in same.view().parts


@pytest.mark.parametrize(
    ("first", "second"),
    [("Age", "age"), ("zip code", "ZIP_Code"), ("strasse", "STRASSE"), ("straße", "Strasse"), ("\uff21ge", "age")],
)
def test_spelled_alike(first: str, second: str) -> None:
    assert spelling(first) == spelling(second)
    assert match_columns([("a", {first: ()}), ("b", {second: ()})]).names[1] == {second: first}


def test_what_is_said_decides() -> None:
    tables = [cut("Alter", 40, "a"), cut("age", 50, "b")]
    assert JointRelease().run(tables).l == 2  # nobody can know
    with pytest.raises(DataError, match="share the quasi-identifier `Alter`"):
        JointRelease(same=("Alter=age",)).run(tables)
    twice = [cut("age", 40, "a"), cut("age", 50, "b")]
    found = JointRelease(distinct=("age",)).run(twice)
    assert (found.l, found.tables[1].quasi_identifiers) == (2, ("age of b",))
    thrice = JointRelease(distinct=("age",)).run([cut("age", at, "table.csv") for at in (40, 50, 60)])
    names = [table.quasi_identifiers[0] for table in thrice.tables]
    assert (names, thrice.notes) == (["age", "age of table.csv", "age of table.csv (3)"], ())
    for wrong in ({"same": ("agee=age",)}, {"distinct": ("age,wage",)}, {"same": ("age",)}):
        with pytest.raises(SchemaError):
            JointRelease(**wrong).run(twice)  # type: ignore[arg-type]
    with pytest.raises(SchemaError, match="distinct, and the same"):
        JointRelease(same=("Alter=age",), distinct=("Alter,age",)).run(tables)


def test_nearly_alike_is_a_doubt_and_asked_about_only_where_cells_would_cross() -> None:
    with pytest.raises(DataError, match=r"spelled almost alike.*same=\[.hours=hour.\] or distinct=\[.hours,hour.\]"):
        JointRelease().run([cut("hours", 40, "a"), cut("hour", 50, "b")])
    assert JointRelease(distinct=("hours,hour",)).run([cut("hours", 40, "a"), cut("hour", 50, "b")]).l == 2
    nested = JointRelease().run([cut("hours", 40, "a"), cut("hour", 40, "b")])
    assert "They count as different columns, which leaves no more values." in nested.notes[0]
    # As one column, classes that exclude each other are no combination.
    one = JointRelease(shared="nested", same=("hours=hour",)).run([cut("hours", 40, "a"), cut("hour", 40, "b")])
    assert one.l >= nested.l
    assert one.combinations == nested.combinations


def test_equal_values_only_propose() -> None:
    tables = [words("smokes", "yynn", "a"), words("drinks", "ynyn", "b"), words("drives", "nyyn", "c")]
    found = JointRelease().run(tables)
    assert [note.count("have the same values") for note in found.notes] == [1, 1, 1]
    assert found.l == min(JointRelease().run(tables[:2]).l, found.l)
    assert not JointRelease(distinct=("smokes,drinks,drives",)).run(tables).notes
    # The worse reading: fewer values than if any two of them were one.
    one = JointRelease(shared="nested", same=("smokes=drinks",)).run(tables[:2])
    assert JointRelease().run(tables[:2]).l <= one.l


def test_equal_cells_that_overlap_are_asked_about() -> None:
    def local(column: str, name: str) -> Published:
        cells = ["[0, 19]", "[0, 19]", "[0, 9]", "[0, 9]"]
        return foreign_table(pa.table({column: cells, "pay": list("HMHM")}), name, sensitive="pay")

    with pytest.raises(DataError, match=r"have the same values.*overlap within.*distinct=\[.worked,slept.\]"):
        JointRelease().run([local("worked", "a"), local("slept", "b")])
    assert JointRelease(distinct=("worked,slept",)).run([local("worked", "a"), local("slept", "b")]).l == 2


def test_a_column_cannot_be_two_of_one_table() -> None:
    both = foreign_table(pa.table({"Age": ["2"], "age": ["1"], "pay": ["H"]}), "a", sensitive="pay")
    other = foreign_table(pa.table({"AGE": ["1"], "pay": ["H"]}), "b", sensitive="pay")
    with pytest.raises(SchemaError, match="`a` has `Age` and `age`"):
        JointRelease().run([both, other])
    found = JointRelease(distinct=("Age,AGE",), shared="nested").run([both, other])
    assert found.tables[1].quasi_identifiers == ("age",)


def test_known_columns_go_by_any_of_their_names() -> None:
    data = pa.table({"Age": list("ooyy"), "sex": list("fmfm"), "pay": list("HLLM")})
    other = foreign_table(pa.table({"age": list("ooyy"), "pay": list("HLLM")}), "b", sensitive="pay")
    tables = [foreign_table(data, "a", sensitive="pay"), other]
    by_either = [JointRelease(known=(name,), shared="nested").run(tables).l for name in ("Age", "age")]
    assert by_either == [2, 2]
    with pytest.raises(ParameterError, match="`agee` is not known"):
        JointRelease(known=("agee",)).run(tables)


def test_a_claim_knows_columns_by_their_spelling() -> None:
    ours = classes_of_table(pa.table({"age": ["1", "2"], "pay": ["H", "M"]}), ["age"], ["pay"], suppressed_is_star=True)
    theirs = foreign_table(pa.table({"AGE": ["1", "1"], "pay": ["H", "M"]}), "o", sensitive="pay")
    found = JointDiversity(l=1, others=[theirs]).check(ours)
    assert not found.holds
    assert "publishes `AGE`, too" in found.note


def publish(data: pa.Table, **settings: object) -> uc.Run:
    schema = uc.Schema(quasi_identifiers=[name for name in data.column_names if name != "pay"], sensitive="pay")
    return uc.publish(data, schema, uc.NonCentralized(l=1, **settings))  # type: ignore[arg-type]


def keeps_all(found: Verification) -> bool:
    """Whether nothing fails; l = 1 promises nothing, so that it is not called verified."""
    return found.holds is None and not found.problems and all(one.holds for one in found.findings)


def test_the_publisher_drops_what_others_have_under_another_spelling() -> None:
    data = pa.table({"age": [age for age, _ in ROWS], "sex": list("fmfmf"), "pay": [pay for _, pay in ROWS]})
    other = cut("Age", 50, "o")
    run = publish(data, others=[other])
    assert run.diagnostics["dropped"] == ["age"]
    assert keeps_all(uc.verify(run.release))
    assert publish(data, others=[other], distinct=["Age", "age"]).diagnostics["dropped"] == []  # as --set splits it
    apart = publish(data, others=[other], distinct=["Age,age"])
    assert apart.diagnostics["dropped"] == []
    assert apart.release.parameters["distinct"] == ["Age,age"]
    assert keeps_all(uc.verify(apart.release))  # the claim calls the other column by the other table
    said = publish(data, others=[cut("Alter", 50, "o")], same=["Alter=age"])
    assert said.diagnostics["dropped"] == ["age"]
    with pytest.raises(UndercoverError, match="not known"):
        publish(data, others=[other], same=["Alter=age"])


def test_the_publisher_drops_what_is_nearly_alike_and_says_so() -> None:
    data = pa.table({"hours": [age for age, _ in ROWS], "sex": list("fmfmf"), "pay": [pay for _, pay in ROWS]})
    run = publish(data, others=[cut("hour", 50, "o")])
    assert run.diagnostics["dropped"] == ["hours"]
    assert any("were taken for one column" in warning for warning in run.warnings)
    assert publish(data, others=[cut("hour", 50, "o")], distinct=["hours,hour"]).diagnostics["dropped"] == []
    with pytest.raises(SchemaError, match=r'same=\["hours=hour"\] or distinct=\["hours,hour"\]'):
        publish(data, others=[cut("hour", 50, "o")], shared="nested")


def test_numbers_of_buckets_are_nobody_elses() -> None:
    made = [
        foreign_table(pa.table({"bucket": [1, 1], "pay": ["H", "M"], "count": [1, 1]}), name, sensitive="pay")
        for name in ("first.csv", "second.csv")
    ]
    assert JointRelease().run(made).notes == ()


def test_others_whose_columns_are_taken_for_one_and_cross_are_refused_with_the_reason() -> None:
    data = pa.table({"sex": list("fmfmf"), "pay": [pay for _, pay in ROWS]})
    others = [cut("hours", 40, "a"), cut("hour", 50, "b")]
    with pytest.raises(DataError, match="taken for one column"):
        publish(data, others=others)
    assert publish(data, others=others, distinct=["hours,hour"]).diagnostics["dropped"] == []
