"""From the options of ``undercover hierarchy`` to the values a hierarchy is to cover."""

from __future__ import annotations

from datetime import date, timedelta
from fractions import Fraction
from typing import Any

from undercover.errors import DataError, ParameterError, SchemaError, unknown
from undercover.io.source import ReadOptions, read

MOST = 1_000_000  # leaves of a range; more is a slip of the pen


def number(option: str, text: str) -> int | float:
    """A number as it was written.

    >>> number("--step", "5"), number("--step", "0.5")
    (5, 0.5)
    """
    try:
        exact = Fraction(text.strip())
        return exact.numerator if exact.denominator == 1 else float(exact)
    except (ValueError, ZeroDivisionError, OverflowError):
        raise ParameterError(f"{option} takes numbers. Got {text!r} instead.") from None


def numbers(option: str, text: str) -> list[int | float]:
    """Numbers by commas.

    >>> numbers("--widths", "5,10, 20")
    [5, 10, 20]
    """
    return [number(option, part) for part in text.split(",") if part.strip()]


def whole_numbers(option: str, text: str) -> list[int]:
    """Whole numbers by commas.

    >>> whole_numbers("--lengths", "3,1.5")
    Traceback (most recent call last):
    undercover.errors.ParameterError: --lengths takes whole numbers. Got '3,1.5' instead.
    """
    found = numbers(option, text)
    whole = [value for value in found if isinstance(value, int)]
    if len(whole) < len(found):
        raise ParameterError(f"{option} takes whole numbers. Got {text!r} instead.")
    return whole


def is_range(data: str | None, column: str | None, first: str | None, last: str | None) -> bool:
    """Whether values come from a range; one of the two ways must be chosen, and whole.

    >>> is_range(None, None, "0", "100")
    True
    >>> is_range("people.csv", None, None, None)
    Traceback (most recent call last):
    undercover.errors.ParameterError: --data and --column belong together: the table and the column in it.
    """
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


def number_range(first: str | None, last: str | None, step: str) -> list[int | float]:
    """Every number from the first to the last, both included.

    >>> number_range("0", "1", "0.25")
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    low, high, width = (Fraction(str(number(name, text or ""))) for name, text in _named(first, last, step))
    if width <= 0 or high < low:
        raise ParameterError(f"A range goes up: --from {first} --to {last} --step {step} has no numbers.")
    count = int((high - low) / width) + 1
    _check_count(count)
    exact = [low + width * position for position in range(count)]
    if all(value.denominator == 1 for value in exact):
        return [value.numerator for value in exact]
    return [float(value) for value in exact]


def day_range(first: str | None, last: str | None) -> list[date]:
    """Every day from the first to the last, both included.

    >>> len(day_range("2024-01-01", "2024-12-31"))
    366
    """
    try:
        low, high = date.fromisoformat(first or ""), date.fromisoformat(last or "")
    except ValueError as error:
        raise ParameterError(f"--from and --to take days such as 2024-03-17: {error}.") from None
    if high < low:
        raise ParameterError(f"A range goes up: there is no day from {first} to {last}.")
    count = (high - low).days + 1
    _check_count(count)
    return [low + timedelta(days=position) for position in range(count)]


def column_values(data: str | None, column: str | None, nulls: str, *, text: bool = False) -> Any:
    """One column of a table, as publish reads it, or as it is written."""
    if data is None or column is None:
        raise ParameterError("Say which values to cover: --data FILE --column NAME.")
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
    if count > MOST:
        raise ParameterError(f"That range has {count:,} values; a hierarchy of more than {MOST:,} is not made.")
