"""What is said of rows that were permuted and values that were dealt: true of each shape, and not of the others."""

from pathlib import Path

import numpy as np
import pytest

import undercover as uc
from dealing import ILLNESSES, SHAPES, Dealing, Shape, dealt, people
from undercover.errors import NotTold
from undercover.forms import read
from undercover.forms.case import Case
from undercover.model.form import Drawn
from undercover.pages.words import limits
from undercover.verbs.report import report

pytestmark = pytest.mark.usefixtures("unjudged")

PAPERS = ("output tables", "not algorithm-safe", "Published unchanged", "Drawn at random", "were drawn")


def said_of(run: uc.Run) -> str:
    """Everything a recipient is told."""
    reading = read(run.release)
    (table,) = run.release.tables
    columns = [reading.meaning(table, column) for column in table.columns]
    snippets = [text for snippet in reading.snippets("csv") for text in (snippet["text"], snippet["title"])]
    notes = uc.verify(run.release).notes
    return " ".join([*limits(run.release), *columns, *snippets, *notes, reading.story])


@pytest.mark.parametrize("shape", SHAPES)
def test_nothing_of_the_papers_method_is_said(shape: Shape) -> None:
    said = said_of(dealt(shape, insensitive=True))
    assert not [words for words in PAPERS if words in said]
    assert "90 years old" in said
    assert "a person with several rows is not covered" in said
    assert "Permuted as quasi-identifiers are, though no secret: pet" in said


@pytest.mark.parametrize("shape", ["layers", "groups"])
def test_dealt_values_are_not_said_to_be_a_rows_own(shape: Shape) -> None:
    said = said_of(dealt(shape))
    assert "pregnant" in said
    assert "at least 4" in said
    assert "stand in the rows of their owners" not in said
    assert "1/4" in said


def test_own_values_are_not_said_to_be_dealt() -> None:
    said = said_of(dealt("blocks"))
    assert "pregnant" not in said
    assert "dealt anew" not in said
    assert "where all its people have the same one" in said


def test_the_papers_method_is_described_as_before() -> None:
    example = uc.datasets.hospital("mutual-cover")
    run = uc.publish(example.table, example.schema, uc.MutualCover(delta="1/3", l=3, variant="paper"), seed=1)
    said = said_of(run)
    assert "δ is the largest share" in said
    assert "output tables" in said
    assert "dealt anew" not in said
    without = said_of(uc.Run(**{**vars(run), "release": run.release.with_guarantees(())}))
    assert "δ is the largest share" not in without


def test_an_unsafe_release_says_so() -> None:
    run = dealt("blocks")
    assert "not algorithm-safe" in " ".join(limits(run.release.changed(algorithm_safe=False)))


@pytest.mark.parametrize("shape", SHAPES)
def test_code_for_recipients_runs_and_single_columns_are_exact(shape: Shape, tmp_path: Path) -> None:
    run = dealt(shape)
    uc.save(run, tmp_path / "out")
    code = read(run.release).snippets("csv")
    counted = next(snippet for snippet in code if snippet["title"].startswith("Count by"))
    assert "exact" in counted["text"]
    assert "+/-" not in counted["code"]
    names: dict[str, object] = {}
    read_ = code[0]["code"].replace('"table.csv"', repr(str(tmp_path / "out" / "public" / "table.csv")))
    exec(read_ + counted["code"], names)
    ages = people()[0].column("age").to_pylist()
    low, high = names["low"], names["high"]
    assert int(names["inside"].sum()) == sum(low <= age <= high for age in ages)  # type: ignore[attr-defined, operator]


@pytest.mark.parametrize("shape", SHAPES)
def test_counts_have_no_bounds_and_sums_are_those_of_the_rows(shape: Shape) -> None:
    run = dealt(shape)
    with pytest.raises(NotTold, match="changed places at random"):
        uc.answer(run.release, uc.CountQuery(where={"ill": "flu"}))
    found = read(run.release).estimates(run.original)
    assert float(found.people.sum()) == 40


@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_asked_is_counted_in_the_rows_as_they_stand(shape: Shape) -> None:
    data, _ = people()
    pay = {illness: 10.0 * place for place, illness in enumerate(ILLNESSES)}
    paid = data.append_column("pay", [[pay[illness] for illness in data.column("ill").to_pylist()]])
    schema = uc.Schema(quasi_identifiers=["age", "town"], sensitive="pay")
    run = uc.publish(paid, schema, Dealing(shape=shape, l=None if shape == "blocks" else 4), seed=3)
    found = uc.answer_sum(run.release, uc.SumQuery("pay", where={"town": "Lyon"}))
    rows = [row for row in run.release.published().data.to_pylist() if row["town"] == "Lyon"]
    assert (found.estimate, found.lower, found.upper) == (sum(row["pay"] for row in rows), None, None)
    assert uc.answer_sum(run.release, uc.SumQuery("pay")).estimate == sum(paid.column("pay").to_pylist())
    shown = read(run.release).estimates(run.original).sensitive["pay"]
    expected = shown.by_class(np.arange(len(shown.labels)), len(shown.labels))
    published = run.release.published().data.column("pay").to_pylist()
    assert [shown.labels[row.argmax()] for row in expected] == [f"{value:g}" for value in published]
    assert (expected.sum(axis=1) == 1).all()


def test_a_release_of_another_form_is_read_anew() -> None:
    release = dealt("layers").release
    assert read(release).among == 4
    assert read(release.changed(form=Drawn())).among is None


@pytest.mark.parametrize("shape", SHAPES)
def test_the_report_is_written_and_keeps_its_secrets(shape: Shape, tmp_path: Path) -> None:
    run = dealt(shape, insensitive=True)
    page = tmp_path / "report.html"
    report(run, page)
    text = page.read_text("utf-8")
    assert ("not a bound on being identified" in text) == (shape == "layers")
    assert ("Quasi-identifiers alone moved by" in text) == (shape == "layers")
    assert "output tables" not in text


def test_loss_is_against_the_owner_of_the_value_and_the_move_stands_beside_it() -> None:
    run = dealt("layers")
    found = uc.measure(run.original, run).to_dict()
    table, original = run.release.published().data, run.original
    frame = run.frames["published_rows"]
    for column, figure in (
        ("published", found["loss"]["shift"]["per_column"]["age"]),
        ("cells", None),
    ):
        ages = table.column("age").to_pylist()
        labels = original["age"].domain.labels
        own = [float(labels[code]) for code in original["age"].codes.tolist()]
        rows = frame.column(column).to_pylist()
        width = max(own) - min(own)
        moved = sum(abs(own[i] - ages[rows[i]]) for i in range(40)) / 40 / width
        towns = table.column("town").to_pylist()
        changed = sum(labels_of(original, "town", i) != towns[rows[i]] for i in range(40)) / 40
        if figure is not None:
            assert figure == pytest.approx(moved)
            assert found["loss"]["shift"]["per_column"]["town"] == pytest.approx(changed)
        else:
            assert found["moved_quasi_identifiers"]["shift"] == pytest.approx((moved + changed) / 2)
    assert found["moved_quasi_identifiers"]["shift"] < found["loss"]["shift"]["arithmetic"]


def labels_of(original: uc.Table, name: str, row: int) -> str:
    return str(original[name].domain.labels[int(original[name].codes[row])])


@pytest.mark.parametrize("shape", ["blocks", "groups"])
def test_where_value_and_place_are_one_there_is_one_figure(shape: Shape) -> None:
    run = dealt(shape)
    assert "moved_quasi_identifiers" not in uc.measure(run.original, run).to_dict()


def test_an_old_run_without_places_has_the_rows_it_had() -> None:
    run = dealt("blocks")
    frame = run.frames["published_rows"]
    old = uc.Run(**{**vars(run), "frames": {"published_rows": frame.drop_columns(["cells"])}})
    assert Case.of(old).own.tolist() == frame.column("published").to_pylist()  # type: ignore[union-attr]
    assert uc.verify(old).holds
