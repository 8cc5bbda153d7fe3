"""Published cells as codes and as values they cover, by hand."""

import numpy as np
import pyarrow as pa

import undercover as uc
from undercover.forms import read
from undercover.forms.answers.domains import shown_values
from undercover.forms.case import as_release
from undercover.forms.coverage import Cover, located
from undercover.forms.disclosure import _success
from undercover.forms.displacement import Displacement
from undercover.forms.meaning import Meaning, Values
from undercover.forms.written import first_rows, labels_of, written
from undercover.model.release import PublishedColumn, PublishedTable, Release


def test_columns_as_codes_of_what_is_written() -> None:
    column = written(pa.array(["a", None, "a", ""]))
    assert (column.codes.tolist(), column.labels) == ([0, 1, 0, 1], ("a", ""))
    assert labels_of(pa.array([2.0, float("nan"), None])) == ("2", "nan", "")


def test_a_column_of_a_table_is_written_with_the_codes_it_has() -> None:
    data = pa.table({"age": [40, None, 20, 40], "sex": ["f", "m", "f", ""], "town": ["Ulm", "Kiel", "Kiel", "Ulm"]})
    schema = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="town", missing="category")
    table = uc.Table.from_arrow(data, schema)
    release = as_release(table)
    for name in data.column_names:
        found, twin = read(release).column(name), written(release.tables[0].data.column(name))
        assert found.codes is table[name].codes
        assert (found.codes.tolist(), found.values.to_pylist(), found.labels) == (
            twin.codes.tolist(),
            twin.values.to_pylist(),
            twin.labels,
        )


def test_a_column_is_read_again_for_nan_only_where_there_can_be_any() -> None:
    data = pa.table({"age": [20, 30, 30], "dose": [0.5, float("nan"), None], "size": ["S", "M", "S"]})
    data = data.append_column("half", data["dose"].dictionary_encode())
    columns = tuple(PublishedColumn(name, "quasi-identifier", "value") for name in data.column_names)
    reading = read(Release("somebody's", {}, (PublishedTable("table", columns, data),), True))
    for name, again in {"age": False, "size": False, "dose": True, "half": True}.items():
        strict, lenient = reading.column(name), reading.column(name, nan_is_missing=True)
        assert (lenient is not strict) is again
        assert lenient.codes.tolist() == written(data[name], nan_is_missing=True).codes.tolist()
        assert strict.codes.tolist() == written(data[name]).codes.tolist()


def test_first_rows_of_codes() -> None:
    assert first_rows(np.array([1, 0, 1, 0]), 2).tolist() == [1, 0]


def test_boxes_that_rows_lie_in() -> None:
    ages = Cover.of([Meaning(0, 1), Meaning(2, 3)], size=4)
    box, times = located([np.array([0, 3, 2])], [np.array([1])], [ages])
    assert (box.tolist(), times.tolist()) == ([-1, 0, 0], [0, 1, 1])


def test_cells_and_the_values_they_cover() -> None:
    sexes = Values(("F", "M"), "categorical", False)
    assert sexes.read_all(("F", "{F, M}"), "set") == (Meaning(0, 0), Meaning(0, 1))
    assert shown_values(["[20, 23]", "25", "*", '{30, ""}'], "interval") == ["20", "23", "25", "30", ""]


def test_a_sample_of_guesses_has_an_interval() -> None:
    assert _success(np.array([1.0, 0.0])) == {"guess_success": 0.5}
    found = _success(np.array([1.0, 0.0, 1.0, 0.0, np.nan]))
    assert (found["guess_success"], found["guess_sample"], [round(end, 3) for end in found["guess_interval"]]) == (
        0.5,
        4,
        [0.0, 1.0],
    )


def test_a_displacement_in_one_line() -> None:
    assert (
        repr(Displacement(12.0, {"age": 0.1, "sex": 0.2}, {"age": 0.01, "sex": 0.2}, {"age": 0.5, "sex": 0.2}))
        == "<Displacement: 35.0% of the cells changed, by 0.1050 of the scale on average; .to_dict() has the numbers>"
    )
