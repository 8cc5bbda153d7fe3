"""Whatever the table and the parameters: what is published is verified by other code, fresh and read back."""

from collections import Counter
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
from hypothesis import HealthCheck, assume, event, given
from hypothesis import strategies as st

import undercover as uc
from effort import examples
from undercover.errors import UnreachableError
from undercover.io.release.manifest import load_release, write_tables
from undercover.model.spellings import as_read, number_values

TOWNS = uc.Hierarchy(
    [("a", "x", "*"), ("b", "x", "*"), ("c", "y", "*"), ("d", "y", "*"), ("e", "y", "*"), ("f", "z", "*")]
)
LEVELS = ("low", "middle", "high")
# Text that would be misread were it not quoted, and text that looks like a number, a date or nothing.
TEXT = st.one_of(
    st.sampled_from(["p", "q", "r", "s"]),
    st.sampled_from(["*", "[1, 2]", "{p, q}", "a, b", '"', " p", "p ", "7", "1.50", "2020-01-02", "NA", "null", "é"]),
    st.text(alphabet='pq,"{}[]* \n', min_size=1, max_size=4),
)
NUMBERS = st.one_of(st.integers(-3, 6), st.sampled_from([0.5, -0.5, 1e6, 2.25]))
SETTINGS = examples(25, suppress_health_check=[HealthCheck.too_slow])


def maybe(values: st.SearchStrategy[Any], missing: bool) -> st.SearchStrategy[Any]:
    return st.one_of(values, values, values, st.none()) if missing else values


def told_apart(texts: list[str | None]) -> list[str | None]:
    """The same texts, of which no two are spellings of one value: such input is refused."""
    first: dict[int, str] = {}
    shown = ["p" if text is not None and not as_read(text) else text for text in texts]
    values = number_values([text or "" for text in shown]).tolist()
    return [None if text is None else first.setdefault(value, text) for text, value in zip(shown, values, strict=True)]


@st.composite
def tables(draw: st.DrawFn, *, max_rows: int = 30) -> tuple[pa.Table, uc.Schema]:
    """A table with a column of every kind, missing values where the schema says what they mean."""
    missing = draw(st.sampled_from(["error", "drop", "category"]))
    holes = missing != "error"
    n = draw(st.integers(2, max_rows))

    def column(values: st.SearchStrategy[Any]) -> list[Any]:
        return draw(st.lists(maybe(values, holes), min_size=n, max_size=n))

    data = {
        "number": pa.array(column(NUMBERS), pa.float64()),
        "text": pa.array(column(TEXT), pa.string()),
        "town": pa.array(column(st.sampled_from(TOWNS.leaves)), pa.string()),
        "level": pa.array(column(st.sampled_from(LEVELS)), pa.string()),
        "ill": pa.array(told_apart(column(TEXT)), pa.string()),
        "note": pa.array(column(TEXT), pa.string()),
    }
    quasi = draw(st.sets(st.sampled_from(["number", "text", "town", "level"]), min_size=1))
    schema = uc.Schema(
        quasi_identifiers=sorted(quasi),
        sensitive="ill",
        insensitive=["note"] if draw(st.booleans()) else [],
        columns={
            name: column
            for name, column in {
                "town": uc.Column(hierarchy=TOWNS),
                "level": uc.Column(kind="ordinal", domain=LEVELS),
                "text": uc.Column(kind="categorical"),  # undeclared, days beside a text that is none are refused
            }.items()
            if name in quasi
        },
        missing=missing,
    )
    table = pa.table(data)
    complete = zip(*(table[name].is_valid().to_pylist() for name in (*schema.quasi_identifiers, "ill")), strict=True)
    assume(missing != "drop" or any(all(row) for row in complete))
    return table, schema


@st.composite
def mondrians(draw: st.DrawFn) -> uc.Mondrian:
    parameters: dict[str, Any] = {
        "k": draw(st.integers(1, 5)),
        "recoding": draw(st.sampled_from(["boxes", "regions"])),
        "cut": draw(st.sampled_from(["loss", "median"])),
    }
    form = draw(st.sampled_from([None, None, "frequency", "distinct", "entropy", "recursive"]))
    if form is not None:
        number = (
            st.integers(1, 3) if form in ("distinct", "recursive") else st.sampled_from([1, 1.5, Fraction(5, 3), 2])
        )
        parameters |= {"l": draw(number), "diversity": form}
        if form == "recursive":
            parameters["c"] = draw(st.sampled_from([1, 1.5, 3]))
    if draw(st.booleans()):
        parameters |= {"t": draw(st.sampled_from([0, 0.2, "1/3", 0.5, 1])), "distance": "equal"}
        if draw(st.booleans()):
            parameters["distance"] = "ordered"
    return uc.Mondrian(**parameters)


def attempt(data: pa.Table, schema: uc.Schema, method: Any) -> uc.Run | UnreachableError:
    try:
        return uc.publish(data, schema, method, seed=1)
    except UnreachableError as error:
        return error


def publish(data: pa.Table, schema: uc.Schema, method: Any) -> uc.Run:
    """Publish; tables on which the guarantee cannot be reached say what can, and are left aside."""
    made = attempt(data, schema, method)
    if isinstance(made, UnreachableError):
        event("cannot be reached")
        asked = {name: best for name, best in made.best.items() if name in ("k", "l")}
        assert asked
        for name, best in asked.items():
            assert best < float(Fraction(getattr(method, name)))
    assume(isinstance(made, uc.Run))
    return made


def check(run: uc.Run, data: pa.Table) -> None:
    """Every claim holds, on the fresh release and on the one read back, and nobody was lost or invented."""
    fresh = uc.verify(run, original=data)
    promises = any(one.is_promise and not one.is_vacuous for one in fresh.findings)
    assert fresh.holds is (True if promises else None), fresh.to_dict()
    assert fresh.rows == len(run.rows)
    expected = Counter(data["ill"].take(run.rows).to_pylist())
    published = run.release.tables[-1].data
    shown: Counter[Any] = Counter()
    weights = published["count"].to_pylist() if "count" in published.column_names else [1] * published.num_rows
    for value, weight in zip(published["ill"].to_pylist(), weights, strict=True):
        shown[value] += weight
    assert shown == expected
    for format_ in ("csv", "parquet"):
        with TemporaryDirectory() as folder:
            write_tables(run.release, Path(folder), format=format_)  # type: ignore[arg-type]
            again, problems = load_release(folder)
        assert problems == []
        assert uc.verify(again).to_dict() == uc.verify(run.release).to_dict()
        assert uc.verify(again, original=data, schema=run.schema).holds


@SETTINGS
@given(tables(), mondrians())
def test_mondrian_keeps_what_it_claims(made: tuple[pa.Table, uc.Schema], method: uc.Mondrian) -> None:
    data, schema = made
    run = publish(data, schema, method)
    check(run, data)
    if schema.missing != "drop":
        assert len(run.rows) == data.num_rows


@SETTINGS
@given(tables(), st.integers(2, 4))
def test_anatomy_keeps_what_it_claims(made: tuple[pa.Table, uc.Schema], l: int) -> None:  # noqa: E741
    data, schema = made
    run = publish(data, schema, uc.Anatomy(l=l))
    check(run, data)
    assert run.groups.sizes.min() >= l


@SETTINGS
@given(tables(), st.integers(2, 6))
def test_the_best_that_is_named_can_be_reached(made: tuple[pa.Table, uc.Schema], l: int) -> None:  # noqa: E741
    data, schema = made
    for method in (uc.Anatomy, lambda l: uc.Mondrian(k=1, l=l)):  # noqa: E741
        refused = attempt(data, schema, method(l=l))
        if isinstance(refused, UnreachableError) and refused.best["l"] >= 2:
            best = int(refused.best["l"])
            event("can be reached with less")
            assert best < l
            assert uc.verify(uc.publish(data, schema, method(l=best)).release).holds


@SETTINGS
@given(tables(max_rows=20), mondrians())
def test_nobody_is_found_more_surely_than_promised(made: tuple[pa.Table, uc.Schema], method: uc.Mondrian) -> None:
    data, schema = made
    assume(not schema.insensitive)
    run = publish(data, schema, method)
    found = uc.attack(run)
    assert found.after.matches.min() >= method.k
    assert found.before.matches.min() >= 1
    if method.l is not None and method.diversity == "frequency":
        assert found.after.attribute["ill"].max() <= 1 / float(method.l) + 1e-12
