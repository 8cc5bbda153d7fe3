"""``undercover hierarchy``: build hierarchies from ranges and columns, look at them, and see whether they fit.

The commands are declared here; what does the work is imported when one of them runs.
"""

from __future__ import annotations

from datetime import date, timedelta
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from undercover.errors import DataError, HierarchyError, ParameterError, SchemaError, unknown

if TYPE_CHECKING:
    from undercover.model.hierarchy import Hierarchy

app = typer.Typer(
    name="hierarchy",
    help="Build, look at and check hierarchies: trees over the values of a column.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Data = Annotated[str | None, typer.Option(help="Take the values from this table: a file or database URL.")]
ColumnName = Annotated[str | None, typer.Option(help="With --data: the column.")]
Out = Annotated[Path | None, typer.Option(help="Write it here as CSV; otherwise it is only shown.")]
Nulls = Annotated[str, typer.Option(help="With --data: what means missing beside an empty cell, by commas.")]
Force = Annotated[bool, typer.Option(help="Replace what stands there.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Lines = Annotated[int, typer.Option(help="How long the picture of the tree may be.", min=1)]
File = Annotated[Path, typer.Argument(help="A hierarchy: CSV with the header level0,level1,…")]

_LINES = 24
_MOST = 1_000_000  # leaves of a range; more is a slip of the pen


@app.command()
def intervals(
    widths: Annotated[str, typer.Option(help="Of each level, by commas, each a multiple of the one before.")],
    first: Annotated[str | None, typer.Option("--from", help="Cover every number from this one …")] = None,
    last: Annotated[str | None, typer.Option("--to", help="… to this one.")] = None,
    step: Annotated[str, typer.Option(help="With --from and --to: from one number to the next.")] = "1",
    origin: Annotated[str, typer.Option(help="A number at which an interval of every level begins.")] = "0",
    data: Data = None,
    column: ColumnName = None,
    nulls: Nulls = "",
    out: Out = None,
    lines: Lines = _LINES,
    force: Force = False,
    json: Json = False,
) -> None:
    """Nested intervals over numbers: 23 lies in [20, 24], that in [20, 29], and so on."""
    from undercover.hierarchies.build import from_intervals

    _check_out(out, force)
    steps, start = _numbers("--widths", widths), _number("--origin", origin)
    if _is_range(data, column, first, last):
        covered: Any = _number_range(first, last, step)
    else:
        covered = _column_values(data, column, nulls)
    _finish(from_intervals(covered, steps, origin=start), column, out, lines, json)


@app.command()
def prefixes(
    lengths: Annotated[str, typer.Option(help="Characters kept on each level, by commas, descending.")],
    data: Annotated[str, typer.Option(help="Take the codes from this table: a file or database URL.")],
    column: Annotated[str, typer.Option(help="The column.")],
    nulls: Nulls = "",
    out: Out = None,
    lines: Lines = _LINES,
    force: Force = False,
    json: Json = False,
) -> None:
    """Ever shorter prefixes of codes such as postcodes: 10115 lies in 101**, that in 1****."""
    from undercover.hierarchies.build import from_prefixes

    _check_out(out, force)
    kept = _whole_numbers("--lengths", lengths)
    codes = _column_values(data, column, nulls, text=True)
    _finish(from_prefixes(codes, kept), column, out, lines, json)


@app.command()
def dates(
    levels: Annotated[
        str, typer.Option(help="From fine to coarse, by commas: day, month, quarter, year, decade.")
    ] = "month,quarter,year,decade",
    first: Annotated[str | None, typer.Option("--from", help="Cover every day from this one …")] = None,
    last: Annotated[str | None, typer.Option("--to", help="… to this one.")] = None,
    data: Data = None,
    column: ColumnName = None,
    nulls: Nulls = "",
    out: Out = None,
    lines: Lines = _LINES,
    force: Force = False,
    json: Json = False,
) -> None:
    """Calendar periods: 2024-03-17 lies in 2024-03, that in 2024-Q1 and in 2024."""
    from undercover.hierarchies.build import from_dates

    _check_out(out, force)
    periods = [level.strip() for level in levels.split(",") if level.strip()]
    if _is_range(data, column, first, last):
        covered: Any = _day_range(first, last)
    else:
        covered = _column_values(data, column, nulls)
    _finish(from_dates(covered, periods), column, out, lines, json)


@app.command()
def auto(
    data: Annotated[str, typer.Option(help="The table: a file or database URL.")],
    column: Annotated[str, typer.Option(help="The column: numbers, dates, bands, postcodes, or in any order.")],
    nulls: Nulls = "",
    out: Out = None,
    lines: Lines = _LINES,
    force: Force = False,
    json: Json = False,
) -> None:
    """The levels a column is generalised to where it has no hierarchy: fives and tens, months and years, prefixes."""
    import pyarrow as pa

    from undercover.hierarchies.automatic import automatic_hierarchy
    from undercover.model.schema import Schema
    from undercover.model.table import Table

    _check_out(out, force)
    values = pa.table({column: _column_values(data, column, nulls)})
    encoded = Table.from_arrow(values, Schema(quasi_identifiers=[column], missing="category"))
    _finish(automatic_hierarchy(encoded[column]), column, out, lines, json)


@app.command()
def show(file: File, lines: Lines = _LINES, json: Json = False) -> None:
    """Look at a hierarchy: nodes of every level, the way up from one value, a picture of the tree."""
    from undercover.hierarchies.file import read_hierarchy

    _finish(read_hierarchy(file), None, None, lines, json)


@app.command()
def check(file: File, data: Data = None, column: ColumnName = None, nulls: Nulls = "", json: Json = False) -> None:
    """Say whether a hierarchy is one and covers a column; exit code 2 with everything that is wrong."""
    from undercover.cli.output import console, print_json
    from undercover.hierarchies.check import check_file

    if (data is None) != (column is None):
        raise ParameterError("--data and --column belong together: which column the hierarchy is for.")
    covered = None if data is None else _column_values(data, column, nulls)
    found = check_file(file, covered)
    problems = list(found.problems)
    if found.uncovered and covered is not None:
        as_text = _column_values(data, column, nulls, text=True)
        if not check_file(file, as_text).uncovered:
            problems.append(
                f'Read as text every value is covered: say kind = "categorical" under [columns.{column}] in the spec.'
            )
    if json:
        print_json({"file": str(file), "fits": not problems, **found.to_dict(), "problems": problems})
    if problems and json:
        raise typer.Exit(HierarchyError.exit_code)
    if problems:
        raise HierarchyError(problems)
    if not json:
        screen = console()
        screen.print(f"{file}: {found.leaves:,} values on {found.levels} levels, each a function of the one below.")
        if covered is not None:
            screen.print(found.sentence())


def _check_out(out: Path | None, force: bool) -> None:
    from undercover.whole import check_file, is_levels

    if out is not None:
        check_file(out, force=force, ours=is_levels)


def _finish(made: Hierarchy, column: str | None, out: Path | None, lines: int, as_json: bool) -> None:
    """Write what was made, where it is to be written, and show it."""
    from dataclasses import asdict

    from undercover.cli.output import console, print_json, print_table
    from undercover.hierarchies.check import preview
    from undercover.hierarchies.file import write_hierarchy

    if out is not None:
        write_hierarchy(made, out)
    found = preview(made, lines=lines)
    if as_json:
        levels = [asdict(level) for level in found.levels]
        print_json({"values": found.values, "levels": levels, "example": list(found.path), "out": out})
        return
    screen = console()
    rows = [
        [str(level.level), level.example, f"{level.nodes:,}", _span(level.smallest, level.largest)]
        for level in found.levels
    ]
    title = f"{found.values:,} values on {len(found.levels)} levels"
    print_table(screen, title, ["level", "example", "nodes", "values of a node"], rows, left=2)
    screen.print(f"the way up: {' → '.join(found.path)}", markup=False)
    if found.drawn > 1:
        screen.print()
        for line in found.picture:
            screen.print(line, markup=False)
    if out is not None:
        screen.print()
        screen.print(f"written to {out}; in a spec beside it:", markup=False)
        screen.print(f'[columns.{column or "NAME"}]\nhierarchy = "{out.name}"', markup=False)


def _span(smallest: int, largest: int) -> str:
    return f"{smallest:,}" if smallest == largest else f"{smallest:,} to {largest:,}"


def _number(option: str, text: str) -> int | float:
    """A number as it was written."""
    try:
        exact = Fraction(text.strip())
        return exact.numerator if exact.denominator == 1 else float(exact)
    except (ValueError, ZeroDivisionError, OverflowError):
        raise ParameterError(f"{option} takes numbers. Got {text!r} instead.") from None


def _numbers(option: str, text: str) -> list[int | float]:
    """Numbers by commas."""
    return [_number(option, part) for part in text.split(",") if part.strip()]


def _whole_numbers(option: str, text: str) -> list[int]:
    """Whole numbers by commas."""
    found = _numbers(option, text)
    whole = [value for value in found if isinstance(value, int)]
    if len(whole) < len(found):
        raise ParameterError(f"{option} takes whole numbers. Got {text!r} instead.")
    return whole


def _is_range(data: str | None, column: str | None, first: str | None, last: str | None) -> bool:
    """Whether values come from a range; one of the two ways must be chosen, and whole."""
    from_range, from_data = [first, last], [data, column]
    if any(part is not None for part in from_range) == any(part is not None for part in from_data):
        raise ParameterError("Say which values to cover: --from A --to B, or --data FILE --column NAME.")
    if first is not None or last is not None:
        if None in from_range:
            raise ParameterError("--from and --to belong together: the first value and the last.")
        return True
    if None in from_data:
        raise ParameterError("--data and --column belong together: the table and the column in it.")
    return False


def _number_range(first: str | None, last: str | None, step: str) -> list[int | float]:
    """Every number from the first to the last, both included."""
    low, high, width = (Fraction(str(_number(name, text or ""))) for name, text in _named(first, last, step))
    if width <= 0 or high < low:
        raise ParameterError(f"A range goes up: --from {first} --to {last} --step {step} has no numbers.")
    count = int((high - low) / width) + 1
    _check_count(count)
    exact = [low + width * position for position in range(count)]
    if all(value.denominator == 1 for value in exact):
        return [value.numerator for value in exact]
    return [float(value) for value in exact]


def _day_range(first: str | None, last: str | None) -> list[date]:
    """Every day from the first to the last, both included."""
    try:
        low, high = date.fromisoformat(first or ""), date.fromisoformat(last or "")
    except ValueError as error:
        raise ParameterError(f"--from and --to take days such as 2024-03-17: {error}.") from None
    if high < low:
        raise ParameterError(f"A range goes up: there is no day from {first} to {last}.")
    count = (high - low).days + 1
    _check_count(count)
    return [low + timedelta(days=position) for position in range(count)]


def _column_values(data: str | None, column: str | None, nulls: str, *, text: bool = False) -> Any:
    """One column of a table, as publish reads it, or as it is written."""
    if data is None or column is None:
        raise ParameterError("Say which values to cover: --data FILE --column NAME.")
    from undercover.io.source import ReadOptions, read

    options = ReadOptions(
        nulls=tuple(part.strip() for part in nulls.split(",") if part.strip()), text=(column,) if text else ()
    )
    table = read(data, options=options).data
    if column not in table.column_names:
        raise SchemaError(unknown("Column", column, table.column_names))
    values = table.column(column)
    if values.null_count == len(values):
        raise DataError(f"Column `{column}` has no values.")
    return values


def _named(first: str | None, last: str | None, step: str) -> tuple[tuple[str, str | None], ...]:
    return ("--from", first), ("--to", last), ("--step", step)


def _check_count(count: int) -> None:
    if count > _MOST:
        raise ParameterError(f"That range has {count:,} values; a hierarchy of more than {_MOST:,} is not made.")
