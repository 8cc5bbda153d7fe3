"""What a table is and how risky it is as it stands: columns, suggested roles, who is singled out.

For each column: kind, distinct and missing values, a summary that shows no value of a suspected identifier, and a
suggested role with its reason; for each without a role a question (:mod:`undercover.studies.inspect.questions`). For
what others may know together (quasi-identifiers and insensitive columns): which small sets of columns single out how
many rows, how large the classes are, and the prosecutor's, journalist's and marketer's risk
(:mod:`undercover.studies.inspect.uniqueness`). A missing value is a value of its own in all of this.

What is returned speaks about the original table and is for the holder, not for publication.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from undercover.errors import DataError, ParameterError, listed
from undercover.io.source import ReadOptions, read
from undercover.model.figures import counted, number, span
from undercover.model.kinds.settle import find
from undercover.model.schema import ALL_OTHERS, EACH_ROW, Schema, check_schema
from undercover.model.view import Part, View, Viewable, table
from undercover.studies.inspect.columns import NULL_MARKERS, ColumnReport, Values, code, report_column, suggest_roles
from undercover.studies.inspect.questions import (
    QUESTION,
    Question,
    Repeated,
    SpellingReport,
    everything,
    questions,
    unit_of,
)
from undercover.studies.inspect.roles import Suggestion
from undercover.studies.inspect.uniqueness import Combination, Risk, class_sizes, risk, singling_out, size_histogram
from undercover.studies.inspect.vocabulary import SuggestedRole
from undercover.verbs.repeated_people import CodedValues, RepeatedPeople, describe_roles, find_repeated_people
from undercover.waiting import Progress, no_progress, teller, telling, through
from undercover.wording import in_column, in_data, option

BEST_OF_EACH_SIZE = 10
SPELLINGS_SHOWN = 30


@dataclass(frozen=True)
class Inspection(Viewable):
    """What :func:`inspect` found; ``to_dict()`` is all of it as plain data."""

    rows: int
    columns: tuple[ColumnReport, ...]
    combinations: tuple[Combination, ...]
    combinations_tried: int
    class_sizes: tuple[Mapping[str, int | None], ...]
    classes: int
    prosecutor: Risk | None
    journalist: Risk | None
    population_fraction: float
    repeated: tuple[Repeated, ...]
    warnings: tuple[str, ...]
    declared: bool = False  # roles come from a schema
    questions: tuple[Question, ...] = ()
    everything: tuple[tuple[str, Combination], ...] = ()
    unit: str | None = None  # the column that says whose row it is, declared or proposed
    spellings: tuple[SpellingReport, ...] = ()  # of sensitive columns
    people: RepeatedPeople = field(
        default_factory=RepeatedPeople
    )  # what speaks for several rows per person, where nobody said

    def named(self, role: SuggestedRole) -> tuple[str, ...]:
        """The columns of one role."""
        return tuple(column.name for column in self.columns if column.role == role)

    def column(self, name: str) -> ColumnReport:
        """The report on one column."""
        return next(column for column in self.columns if column.name == name)

    def schema(self) -> Schema:
        """The suggested roles as a schema to start from: who may know what about whom is for you to say.

        >>> inspect(pa.table({"age": [31, 34, 34], "disease": ["flu", "flu", "gout"]})).schema().sensitive
        ('disease',)
        """
        roles: dict[str, Any] = {
            "quasi_identifiers": self.named("quasi-identifier"),
            "sensitive": self.named("sensitive"),
            "identifiers": self.named("identifier"),
            "insensitive": self.named("insensitive"),
        }
        holes = any(column.missing for column in self.columns if column.name in self.known + roles["sensitive"])
        return Schema(**roles, unit=self.unit, missing="category" if holes else "error")

    def write_spec(self, path: str | os.PathLike[str] | None = None, *, force: bool = False, data: Any = None) -> str:
        """A commented spec of the suggestions, written to ``path`` if there is one.

        With the ``data`` that was inspected it has the method that :func:`undercover.recommend` finds in a few seconds.
        """
        from undercover.studies.inspect.spec import write_spec

        return write_spec(self, path, force=force, data=data)

    def to_dict(self) -> dict[str, Any]:
        """As plain data: what ``undercover inspect --json`` prints."""
        return {
            "rows": self.rows,
            "warnings": list(self.warnings),
            "columns": [column.to_dict() for column in self.columns],
            "quasi_identifiers": list(self.named("quasi-identifier")),
            "known": list(self.known),
            "roles_declared": self.declared,
            "combinations": [combination.to_dict() for combination in self.combinations],
            "combinations_tried": self.combinations_tried,
            "classes": self.classes,
            "class_sizes": [dict(row) for row in self.class_sizes],
            "risk": {
                "prosecutor": self.prosecutor.to_dict() if self.prosecutor else None,
                "journalist": self.journalist.to_dict() if self.journalist else None,
                "marketer": self.journalist.mean if self.journalist else None,
                "population_fraction": self.population_fraction,
            },
            "repeated_identifiers": [asdict(one) for one in self.repeated],
            "unit": self.unit,
            "spellings": [asdict(one) for one in self.spellings],
            "repeated_people": {"asks": self.people.asks, "text": self.people.describe({}), **self.people.to_dict()},
            "questions": [question.to_dict() for question in self.questions],
            "published": [{"what": what, **alone.to_dict()} for what, alone in self.everything],
        }

    @property
    def known(self) -> tuple[str, ...]:
        """What others are taken to know: quasi-identifiers, and what is published unchanged."""
        return self.named("quasi-identifier") + self.named("insensitive")

    def view(self) -> View:
        """What it shows: columns, questions, what singles people out, how many are alike, the risk as it stands."""
        columns = ("name", "kind", "role", "why", "distinct", "missing", "alone")
        described = [
            (one.name, one.kind, one.role, one.reason, one.distinct, one.missing, round(one.unique_share * self.rows))
            for one in self.columns
        ]
        senses = "plain plain plain plain count count count"
        parts: list[Part] = [table(columns, senses, described, "Columns", detail=1)]
        if self.questions:
            asked = [(question.column, question.alone, question.more) for question in self.questions]
            title = f"Nobody has decided on these: {QUESTION}"
            parts.append(
                table(
                    ("column", "singles out alone", "more with the rest"), "plain count count", asked, title, detail=1
                )
            )
        spelled = [(one.column, "one value", ", ".join(map(repr, same))) for one in self.spellings for same in one.same]
        spelled += [
            (one.column, "perhaps one", ", ".join(map(repr, two))) for one in self.spellings for two in one.near
        ]
        if spelled:
            title = "Sensitive values that seem to be spelled in several ways"
            parts.append(table(("column", "", "spellings"), "plain plain plain", spelled[:SPELLINGS_SHOWN], title))
        return replace(self.risks(), parts=(*parts, *self.risks().parts))

    def risks(self) -> View:
        """What it shows of people: what singles them out, how many are alike, and the risk as the table stands."""
        found = self.to_dict()
        parts: list[Part] = []
        if self.unit is not None:
            parts.append(
                f"Counted in rows. Rows of one `{self.unit}` that look alike do not hide each other, so the risk is at "
                "least what stands here; `publish` counts people."
            )
        if self.combinations:
            tried = number(self.combinations_tried)
            title = f"What singles people out (best of {tried} combinations of up to three columns)"
            best = [
                (" + ".join(entry["columns"]), entry["unique_rows"], entry["share"], entry["classes"])
                for entry in found["combinations"][:BEST_OF_EACH_SIZE]
            ]
            columns_of = ("columns", "singled out", "of all", "combinations")
            parts.append(table(columns_of, "plain count risk count", best, title, detail=1))
        if self.known:
            alike = [
                (span(entry), entry["classes"], entry["rows"], entry["rows"] / self.rows)
                for entry in found["class_sizes"]
                if entry["classes"]
            ]
            title = f"People alike in {', '.join(self.known)}"
            columns_of = ("people alike", "groups", "rows", "of all")
            parts.append(table(columns_of, "plain count count risk", alike, title, detail=1))
            risks = found["risk"]
            rows = [
                (who, *(risks[who][key] for key in ("highest", "mean", "share_above_threshold")))
                for who in ("prosecutor", "journalist")
            ]
            rows.append(("marketer", None, risks["marketer"], None))
            attackers = ("attacker", "highest", "mean", f"above {risks['prosecutor']['threshold']:g}")
            parts.append(table(attackers, "plain risk risk risk", rows, "Risk if published as it is"))
        everything = [
            (what, len(one.columns), one.unique_rows, one.unique_rows / self.rows) for what, one in self.everything
        ]
        if everything:
            parts.append(
                table(
                    ("if somebody knows", "columns", "singled out", "of all"),
                    "plain count count risk",
                    everything,
                    "Everything in the table",
                )
            )
        title = f"{counted(self.rows, 'row')}, {counted(len(self.columns), 'column')}"
        return View("inspection", title, tuple(parts), following="`.write_spec()` makes a spec of it.", private=True)

    def __repr__(self) -> str:
        alone = self.class_sizes[0]["rows"] if self.class_sizes else 0
        return (
            f"<Inspection of {counted(self.rows, 'row')} and {counted(len(self.columns), 'column')}, rows alone in "
            f"their class: {alone:,}; .schema() has the suggested roles, .write_spec() makes a spec of it>"
        )


@telling
def inspect(
    data: Any,
    schema: Schema | None = None,
    *,
    population_fraction: float = 1.0,
    options: ReadOptions | None = None,
    progress: Progress | bool = False,
) -> Inspection:
    """Look at a table before it is published; roles and kinds that no schema has decided are suggested.

    ``data`` is a frame, a path or a database URL. ``population_fraction`` is the share of the population that is in the
    table, for the journalist's risk; 1 if it is everybody, or if the attacker knows who is in it. ``progress=True``
    shows how far it is on stderr.

    >>> inspect(pa.table({"age": [31, 34, 34], "disease": ["flu", "flu", "gout"]})).named("quasi-identifier")
    ('age',)
    """
    tell = teller(progress)
    tell("reading", 0.0)
    if not isinstance(data, pa.Table) or options is not None:
        data = read(data, options=options).data
    _check(data, schema, population_fraction)
    schema = None if schema is None else schema.for_columns(data.column_names)
    return inspect_values(values_of(data, tell), data.num_rows, schema, population_fraction, tell)


def values_of(data: pa.Table, progress: Progress = no_progress) -> dict[str, Values]:
    """The values and codes of every column; one that is held as codes is not decoded."""
    return {name: code(data.column(name)) for name in through(progress, "looking at columns", data.column_names)}


def inspect_values(
    coded: Mapping[str, Values],
    rows: int,
    schema: Schema | None = None,
    population_fraction: float = 1.0,
    tell: Progress = no_progress,
) -> Inspection:
    """The same of a table whose values somebody has: :func:`values_of`."""
    tell("suggesting roles", 0.0)
    kinds = {name: schema.column(name).kind if schema else None for name in coded}
    guesses = suggest_roles(coded, rows, kinds)
    if schema is not None:
        guesses = {name: _declared(name, guess, schema) for name, guess in guesses.items()}
    columns = tuple(report_column(name, coded[name], guesses[name], rows, kinds[name]) for name in coded)
    known = {one.name: coded[one.name].coded for one in columns if one.role in ("quasi-identifier", "insensitive")}
    combinations = singling_out(known, progress=tell) if known else []
    tell("weighing risks", 0.0)
    sizes = class_sizes(list(known.values())) if known else np.empty(0, dtype=np.int64)
    repeated = tuple(
        _repeated(name, coded[name])
        for name, guess in guesses.items()
        if guess.role == "identifier" and (guess.person or schema is not None) and coded[name].counts.max(initial=0) > 1
    )
    unit = unit_of(repeated, {column.name: column for column in columns}, schema)
    people = RepeatedPeople()
    if schema is None or schema.unit is None:
        tell("looking for people with several rows", 0.0)
        people = find_repeated_people(_InspectedColumns(coded, rows))
    said = schema is not None and schema.says_each_row
    return Inspection(
        rows=rows,
        columns=columns,
        combinations=_best(combinations),
        combinations_tried=len(combinations),
        class_sizes=tuple(size_histogram(sizes)) if known else (),
        classes=len(sizes),
        prosecutor=risk(sizes) if known else None,
        journalist=risk(sizes, population_fraction) if known else None,
        population_fraction=population_fraction,
        repeated=repeated,
        warnings=(
            *_warnings(columns, () if said else repeated, rows, unit),
            *_about_people(people, repeated, schema, coded),
            *_unclear_dates(columns, coded, schema),
        ),
        declared=schema is not None,
        questions=questions(columns, coded, list(known.values()), schema),
        everything=everything(columns, coded),
        unit=unit,
        spellings=tuple(_spellings(columns, coded, schema)),
        people=people,
    )


def _spellings(
    columns: Sequence[ColumnReport], coded: Mapping[str, Values], schema: Schema | None
) -> Iterator[SpellingReport]:
    """What is spelled in several ways in sensitive columns, unless somebody said what to do about it."""
    said = set() if schema is None else {name for name, one in schema.columns.items() if one.spellings is not None}
    for column in columns:
        if column.role == "sensitive" and column.kind == "categorical" and column.name not in said:
            found = SpellingReport.of(column.name, coded[column.name])
            if found is not None:
                yield found


@dataclass(frozen=True)
class _InspectedColumns:
    """The values of a table that is inspected, for whoever looks for people in it."""

    values: Mapping[str, Values]
    n_rows: int

    @property
    def names(self) -> list[str]:
        return list(self.values)

    def coded(self, name: str, rows: NDArray[np.int64] | None = None) -> CodedValues:
        column = self.values[name]
        codes = column.coded.codes if rows is None else column.coded.codes[rows]
        codes = codes.astype(np.int64)
        codes[codes == len(column.values)] = -1  # missing
        return CodedValues(codes, column.values)


def _about_people(
    people: RepeatedPeople, repeated: Sequence[Repeated], schema: Schema | None, names: Iterable[str]
) -> Iterator[str]:
    """Several rows per person that no identifier shows, and how to say what a person is."""
    if not people.asks or {one.column for one in repeated} & {key.column for key in people.keys}:
        return  # the identifier that repeats is told of already
    roles = {} if schema is None else describe_roles(schema, names)
    whose = f"Say {option(unit=people.keys[0].column)}" if people.keys else f"Name their column ({option(unit=...)})"
    yield f"{people.describe(roles)} {whose}, or {option(unit=EACH_ROW)} if each row is a person of its own."


def _unclear_dates(columns: Sequence[ColumnReport], coded: Mapping[str, Values], schema: Schema | None) -> list[str]:
    """Quasi-identifiers that are dates of a format nobody can tell; no value of theirs is shown."""
    said = schema.columns if schema else {}
    told = {name for name, one in said.items() if one.format or one.hierarchy or one.kind not in (None, "date")}
    return [
        f"`{column.name}` holds dates, and their format is not certain: publishing will ask. Write them alike, with "
        f"years of four digits, or say {in_column(column.name, format='DD/MM/YYYY')}."
        for column in columns
        if column.role == "quasi-identifier" and column.name not in told and find(coded[column.name].values).problem
    ]


def _check(data: pa.Table, schema: Schema | None, population_fraction: float) -> None:
    names = data.column_names
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise DataError(f"The table has more than one column named {listed(twice)}. Rename them.")
    if data.num_rows == 0 or not names:
        raise DataError("The table is empty: there is nothing to inspect.")
    if not 0 < population_fraction <= 1:
        raise ParameterError(
            f"The population_fraction must be a number in (0, 1]. Got {population_fraction!r} instead."
        )
    if schema is not None:
        check_schema(schema)
        schema.for_columns(names).check_against(names)


def _declared(name: str, guess: Suggestion, schema: Schema) -> Suggestion:
    role = next((role for role, names in schema.by_role().items() if name in names), None)
    if role is None and (name in schema.drop or ALL_OTHERS in schema.drop):
        return Suggestion("none", "The schema drops it: it is not published.", guess.categories)
    if role is None:
        hint = ": it is not published." if guess.role == "none" else f". {guess.reason}"
        return Suggestion("none", f"The schema gives it no role{hint}", guess.categories)
    return Suggestion(role, "Declared in the schema.", guess.categories, guess.person)


def _repeated(name: str, column: Values) -> Repeated:
    shared = column.counts[column.counts > 1]
    return Repeated(name, len(column.values), int(shared.sum()), int(shared.max()))


def _best(combinations: list[Combination]) -> tuple[Combination, ...]:
    kept: dict[int, int] = {}
    best = []
    for combination in combinations:
        size = len(combination.columns)
        kept[size] = kept.get(size, 0) + 1
        if kept[size] <= BEST_OF_EACH_SIZE:
            best.append(combination)
    return tuple(best)


def _warnings(
    columns: tuple[ColumnReport, ...], repeated: tuple[Repeated, ...], rows: int, unit: str | None
) -> tuple[str, ...]:
    warnings = [
        f"SEVERAL ROWS PER PERSON OR HOUSEHOLD: `{one.column}` has {one.values:,} values in {rows:,} rows; "
        f"{one.rows_sharing:,} rows share theirs with another row, one value has {one.most_rows:,}. "
        + (
            f"Counted per row, such a person is protected less than it says: {option(unit=unit)} counts people."
            if one.column == unit
            else "Counted per row, such a person is protected less than it says: say what a person is (unit)."
        )
        for one in repeated
    ]
    if not any(column.role == "quasi-identifier" for column in columns):
        warnings.append("No column looks like a quasi-identifier. Say what others may know of a person.")
    if not any(column.role == "sensitive" for column in columns):
        warnings.append("No column looks sensitive. Say which ones nobody should learn; k-anonymity alone hides none.")
    for marker in NULL_MARKERS:
        marked = [column.name for column in columns if marker in column.null_markers]
        if marked:
            warnings.append(
                f"The value {marker!r} stands in {listed(marked, limit=6)}. If it means missing, say so: "
                f"{in_data(nulls=[marker])}."
            )
    return tuple(warnings)
