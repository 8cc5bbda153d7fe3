"""A question to a release that was opened, answered, pictured and remembered.

Whoever answers is imported with the first question: the server's first page does not wait for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from undercover.errors import DataError, InputError, ParameterError
from undercover.model.figures import number, outwards
from undercover.model.queries import Predicate
from undercover.web.asked.opened import Opened

_LARGEST: Final = 1e24


def ask(one: Opened, column: str | None, where: Mapping[str, Predicate]) -> dict[str, Any]:
    """How many rows satisfy conditions or, with a column, its sum over them; remembered with the release."""
    from undercover.web.asked.answering import answering, check_size, python, said_of

    found = one.found
    if found is None or "columns" not in found:
        raise DataError("This release is not verified yet, or cannot be read. It can be asked when it was verified.")
    check_size(found["cells"])
    asked = answering(one)
    answer = asked.count(where) if column is None else asked.sum(column, where)
    numbers = (answer.estimate, answer.lower, answer.upper)
    if not all(abs(each) < _LARGEST for each in numbers if each is not None):
        raise ParameterError(
            "The answer is no number that anybody could mean: what is published or left out is too large."
        )
    question = {
        "column": column,
        "where": [{"column": name, **said_of(one)} for name, one in where.items()],
        "estimate": answer.estimate,
        "lower": answer.lower,
        "upper": answer.upper,
        "sure": answer.sure,
        "shown": _shown(*numbers),
        "picture": picture(answer.estimate, answer.lower, answer.upper),
        "python": python(column, where, drawn=asked.drawn, told=list(asked.domains or ())),
    }
    one.remember(question)
    return question


def _shown(estimate: float, lower: float | None, upper: float | None) -> dict[str, str | None]:
    """Figures as people read them: the ends are rounded outwards, so that they still hold the truth."""
    return {
        "estimate": number(estimate),
        "lower": None if lower is None else outwards(lower),
        "upper": None if upper is None else outwards(upper, up=True),
    }


def ready(one: Opened) -> None:
    """Read a release that will be asked, so that the first question is answered at once."""
    from undercover.web.asked.answering import MOST_CELLS, answering

    if one.found is not None and 0 < one.found.get("cells", 0) <= MOST_CELLS:
        with suppress(InputError):  # which whoever asks is told
            answering(one).count({})


def picture(estimate: float, lower: float | None, upper: float | None) -> dict[str, float]:
    """Where an answer and its ends stand on a line from 0, or from the least, to the most: in percent.

    >>> picture(30, 20, 40)
    {'at': 75.0, 'low': 50.0, 'high': 100.0}
    """
    ends = [estimate, *(end for end in (lower, upper) if end is not None)]
    least, most = min(0.0, *ends), max(0.0, *ends)
    span = (most - least) or 1.0
    low, high = (estimate if end is None else end for end in (lower, upper))
    return {
        name: round(100 * (value - least) / span, 2) for name, value in (("at", estimate), ("low", low), ("high", high))
    }
