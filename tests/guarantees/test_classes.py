import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from undercover.errors import DataError, SchemaError
from undercover.forms import classes_of
from undercover.forms.classes import classes_of_table
from undercover.forms.written import Written, combine
from undercover.guarantees.k_anonymity import KAnonymity
from undercover.guarantees.l_diversity import LDiversity
from undercover.model.form import Buckets
from undercover.model.release import PublishedColumn, PublishedTable, Release


def found(data: dict[str, list[object]], quasi: list[str], sensitive: tuple[str, ...] = (), star: bool = True):
    return classes_of_table(pa.table(data), quasi, sensitive, suppressed_is_star=star)


def test_a_unique_person_of_unknown_age_gives_k_1():
    # Three 34-year-olds and one person of unknown age: grouping that drops missing values would say k = 3.
    classes = found({"age": [34, 34, 34, None], "sex": ["F", "F", "F", "F"]}, ["age", "sex"])
    assert classes.sizes.tolist() == [3, 1]
    assert KAnonymity(k=2).check(classes).actual == 1
    assert classes.describe(1) == {"age": "", "sex": "F"}


def test_missing_equals_missing_in_texts_numbers_and_dictionaries():
    for column in (
        pa.array([None, "a", None]),
        pa.array([None, 1, None]),
        pa.array([None, 1.5, None]),
        pa.array([None, "a", None]).dictionary_encode(),
        pa.DictionaryArray.from_arrays([0, 1, 0], pa.array([None, "a"])),
        pa.chunked_array([["x"], [None, "a", None]], pa.string()).slice(1),
    ):
        classes = classes_of_table(pa.table({"q": column}), ["q"], suppressed_is_star=True)
        assert classes.labels.tolist() == [0, 1, 0], column


def test_an_empty_text_is_missing_and_nan_is_its_own_cell():
    assert found({"q": ["", None, "a"]}, ["q"]).sizes.tolist() == [2, 1]
    assert found({"q": [float("nan"), None, float("nan")]}, ["q"]).sizes.tolist() == [2, 1]


def test_nan_and_missing_are_one_sensitive_value():
    classes = found({"q": [1, 1], "s": [float("nan"), None]}, ["q"], ("s",))
    assert LDiversity(l=2, form="distinct").check(classes).actual == 1


def test_a_column_of_nothing_but_missing_is_one_class():
    assert classes_of_table(pa.table({"q": pa.nulls(3)}), ["q"], suppressed_is_star=True).sizes.tolist() == [3]


@pytest.mark.parametrize("index", [[3, 2, 1, 0], [0, 0, 0, 0], list("abcd")])
def test_labels_of_a_frame_are_never_positions(index):
    frame = pd.DataFrame({"age": [34, 34, 35, 35], "ill": ["flu", "flu", "flu", "cold"]}, index=index)
    data = pa.Table.from_pandas(frame)
    classes = classes_of_table(data, ["age"], ["ill"], suppressed_is_star=True)
    assert classes.labels.tolist() == [0, 0, 1, 1]
    finding = LDiversity(l=2).check(classes)
    assert finding.violators.tolist() == [0]
    assert finding.examples[0]["cells"] == {"age": "34"}


def test_suppressed_rows_are_no_class():
    data = {"a": ["1", "*", "1", "*"], "b": ["x", "*", "x", "y"], "s": ["flu", "flu", "cold", "flu"]}
    classes = found(data, ["a", "b"], ("s",))
    assert classes.labels.tolist() == [0, -1, 0, 1]  # ("*", "y") is a class: not every cell is a star
    assert (classes.suppressed, classes.rows, classes.sizes.tolist()) == (1, 3, [2, 1])
    assert classes.representatives.tolist() == [0, 3]
    # The suppressed row still belongs to the table the distribution is taken over.
    assert classes.sensitive["s"].overall.tolist() == [1, 3]
    assert found(data, ["a", "b"], star=False).sizes.tolist() == [2, 1, 1]


def test_a_suppressed_sensitive_cell_is_no_value():
    classes = found({"a": ["1", "*"], "s": ["flu", "*"]}, ["a"], ("s",))
    assert classes.sensitive["s"].labels == ("flu",)


def test_everything_suppressed():
    classes = found({"a": ["*", "*"], "s": ["flu", "*"]}, ["a"], ("s",))
    for guarantee in (KAnonymity(k=5), LDiversity(l=3)):
        finding = guarantee.check(classes)
        assert (finding.holds, finding.actual) == (True, None)


def test_categories_nobody_has_do_not_count():
    values = pa.DictionaryArray.from_arrays([1, 1, 2], ["never", "flu", "cold"])
    classes = classes_of_table(pa.table({"q": [1, 1, 1], "s": values}), ["q"], ["s"], suppressed_is_star=True)
    assert classes.sensitive["s"].labels == ("cold", "flu")


def test_chunks_with_different_dictionaries():
    chunks = pa.chunked_array(
        [pa.array(["b", "a"]).dictionary_encode(), pa.array(["a", None, "b"]).dictionary_encode()]
    )
    classes = classes_of_table(pa.table({"q": chunks}), ["q"], suppressed_is_star=True)
    assert classes.labels.tolist() == [0, 1, 1, 2, 0]


def test_keys_that_would_overflow():
    # Eleven columns of 100 values have 10^22 combinations; the rows differ in the first column alone.
    rng = np.random.default_rng(3)
    rows = rng.integers(0, 100, (200, 11))
    columns = [Written(rows[:, j].astype(np.int64), pa.nulls(100)) for j in range(11)]
    twice = [Written(np.tile(column.codes, 2), column.values) for column in columns]
    labels, count = combine(twice)
    assert count == len({tuple(row) for row in rows.tolist()})
    assert labels[:200].tolist() == labels[200:].tolist()


def test_wrong_columns_are_reported_together():
    with pytest.raises(SchemaError) as caught:
        found({"age": [1], "ill": ["flu"]}, ["agee", "ill"], ("ill", "nothing"))
    assert len(caught.value.problems) == 3
    with pytest.raises(DataError, match="empty"):
        found({"age": []}, ["age"])
    with pytest.raises(SchemaError, match="quasi-identifier"):
        found({"age": [1]}, [])


def two_tables(qit: dict[str, list[object]], sat: dict[str, list[object]]) -> Release:
    return Release(
        "anatomy",
        {},
        (
            PublishedTable(
                "qit",
                (PublishedColumn("age", "quasi-identifier", "value"), PublishedColumn("bucket", "structure", "value")),
                pa.table(qit),
            ),
            PublishedTable(
                "sat",
                (
                    PublishedColumn("bucket", "structure", "value"),
                    PublishedColumn("ill", "sensitive", "value"),
                    PublishedColumn("count", "structure", "value"),
                ),
                pa.table(sat),
            ),
        ),
        True,
        form=Buckets(),
    )


QIT = {"age": [20, 20, 30, 40, 50], "bucket": [1, 2, 1, 2, 2]}
SAT = {"bucket": [2, 1, 2, 1], "ill": ["flu", "flu", "gout", "cold"], "count": [1, 1, 2, 1]}


def test_buckets_are_the_classes_of_two_tables():
    classes = classes_of(two_tables(QIT, SAT))
    assert classes.labels.tolist() == [0, 1, 0, 1, 1]
    assert classes.sizes.tolist() == [2, 3]
    ill = classes.sensitive["ill"]
    assert ill.labels == ("cold", "flu", "gout")
    assert ill.counts.tolist() == [1, 1, 1, 2]  # bucket 1: cold, flu; bucket 2: flu, gout twice
    assert ill.overall.tolist() == [1, 2, 2]
    assert LDiversity(l=1.5).check(classes).actual == 1.5  # bucket 2: 3 rows, gout twice
    assert classes.describe(1) == {"bucket": "2"}
    # k is about people found by their quasi-identifiers: 30, 40 and 50 occur once.
    assert KAnonymity(k=1).check(classes).actual == 1


@pytest.mark.parametrize(
    "change",
    [
        {"count": [1, 1, 1, 1]},
        {"count": [1, 1, 2, 0]},
        {"bucket": [2, 1, 2, 3]},
        {"count": [1, 1, 2, None]},
        {"count": ["1", "1", "2", "x"]},
    ],
)
def test_two_tables_that_contradict_each_other_fail(change):
    classes = classes_of(two_tables(QIT, {**SAT, **change}))
    assert classes.problems
    finding = LDiversity(l=1).check(classes)
    assert finding.holds is False
    assert finding.note


def test_bucket_numbers_of_different_types_match():
    release = two_tables({**QIT, "bucket": [str(b) for b in QIT["bucket"]]}, SAT)
    assert classes_of(release).sizes.tolist() == [2, 3]
