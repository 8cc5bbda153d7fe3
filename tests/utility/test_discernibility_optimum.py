"""The optimum of the discernibility metric, against every partition there is."""

import re
from collections.abc import Iterator

import pyarrow as pa
import pytest
from pyarrow import csv

import undercover as uc
from undercover.cli.measure import command
from undercover.errors import ParameterError
from undercover.forms.case import Case
from undercover.model.release import PublishedColumn, PublishedTable, Release
from undercover.pages.render import report_html
from undercover.utility.discernibility import optimal_discernibility, smallest_class
from undercover.utility.measures import measure
from undercover.verbs.report import summarize


def partitions(n: int, least: int) -> Iterator[list[int]]:
    """Every way to write n as a sum of parts of at least ``least``, parts ascending."""
    if n >= least:
        yield [n]
    for part in range(least, n // 2 + 1):
        for rest in partitions(n - part, part):
            yield [part, *rest]


def best(n: int, l: int) -> int:  # noqa: E741
    return min(sum(size**2 for size in sizes) for sizes in partitions(n, l))


def test_the_partitions_are_all_of_them():
    assert list(partitions(6, 2)) == [[6], [2, 4], [2, 2, 2], [3, 3]]
    assert [sum(1 for _ in partitions(n, 1)) for n in range(1, 11)] == [1, 2, 3, 5, 7, 11, 15, 22, 30, 42]


@pytest.mark.parametrize("l", range(1, 9))
def test_no_partition_is_better(l):  # noqa: E741
    for n in range(l, 33):
        assert optimal_discernibility(n, l) == best(n, l), (n, l)


def test_a_wrong_optimum_is_caught():
    """Planted fault: all rows beyond g·l in one class, instead of spread."""

    def lumped(n: int, l: int) -> int:  # noqa: E741
        classes = n // l
        return (classes - 1) * l**2 + (n - (classes - 1) * l) ** 2

    assert any(lumped(n, 3) != best(n, 3) for n in range(3, 20))


def test_known_values():
    assert optimal_discernibility(600_000, 8) == 75_000 * 64
    assert optimal_discernibility(22_517, 3) == 67_559  # cross-bucket's figure for k = 3
    assert optimal_discernibility(5, 5) == 25
    assert optimal_discernibility(9, 5) == 81


@pytest.mark.parametrize(("n", "l", "wrong"), [(4, 5, "'n'"), (5, 0, "'l'"), (5.0, 2, "'n'"), (5, True, "'l'")])
def test_wrong_parameters(n, l, wrong):  # noqa: E741
    with pytest.raises(ParameterError, match=wrong):
        optimal_discernibility(n, l)


def release(guarantees=(), suppressed=0):
    columns = (PublishedColumn("age", "quasi-identifier", "interval"), PublishedColumn("ill", "sensitive", "value"))
    data = pa.table({"age": ["[1, 2]"] * 3 + ["[3, 4]"] * 2, "ill": ["a", "b", "c", "a", "b"]})
    return Release("mondrian", {}, (PublishedTable("table", columns, data),), True, suppressed, guarantees)


@pytest.mark.parametrize(
    ("guarantees", "least"),
    [
        ((), None),
        (({"name": "t-closeness", "t": 0.2},), None),
        (({"name": "l-diversity", "l": 2, "form": "frequency"},), 2),
        (({"name": "l-diversity", "l": 2.5, "form": "frequency"},), 3),
        (({"name": "k-anonymity", "k": 4}, {"name": "l-diversity", "l": 3, "form": "distinct"}), 4),
    ],
)
def test_what_a_release_promises(guarantees, least):
    assert smallest_class(release(guarantees)) == least


def test_measures_show_it():
    original = uc.Table.from_arrow(
        pa.table({"age": [1, 2, 2, 3, 4], "ill": ["a", "b", "c", "a", "b"]}),
        uc.Schema(quasi_identifiers=["age"], sensitive="ill"),
    )
    promised = ({"name": "l-diversity", "l": 2, "form": "frequency"},)
    found = measure(Case(original, release(promised)))
    assert (found.discernibility, found.discernibility_optimum, found.discernibility_ratio) == (13, 13, 1.0)
    assert found.to_dict()["discernibility_optimum"] == 13
    assert measure(Case(original, release())).to_dict()["discernibility_ratio"] is None
    # Five rows published and one suppressed: 9 + 4 + 6, against three pairs.
    found = measure(Case(original, release(promised, suppressed=1)))
    assert (found.discernibility, found.discernibility_optimum) == (19, 12)
    # A promise that no class of the table can keep has no optimum.
    assert measure(Case(original, release(({"name": "k-anonymity", "k": 9},)))).discernibility_optimum is None


def test_report_and_command_line_show_it(tmp_path, capsys):
    people = uc.datasets.census(400, seed=1)
    run = uc.publish(people, uc.Schema(quasi_identifiers=["age"], sensitive="occupation"), uc.Mondrian(k=5, l=2))
    page = re.sub(r"<[^>]*>", "", report_html(summarize(run)))
    assert "(optimum 2,000, ratio" in page
    csv.write_csv(people, tmp_path / "people.csv")
    uc.save(run, tmp_path / "out")
    command(tmp_path / "out", original=str(tmp_path / "people.csv"), spec=None, queries=0, json=False)
    assert "(optimum 2,000, ratio" in capsys.readouterr().out
