"""Notebook cards of what a release costs and of what a recipient is answered."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any

from undercover.analysis import Answer, Estimate, SumAnswer
from undercover.pages.card_parts import AFTER, Card, Figures, Shown, card, cost, count, listed, risk, sentence
from undercover.utility import Loss, Measures, QueryErrorResult, SumErrorResult

_LOSSES = {"arx": "loss of detail", "shift": "values moved"}
_MOST_COLUMNS = 8


def measures_card(measures: Measures) -> str:
    """Loss by column, classes, what was suppressed, and how far off counts are.

    >>> costs = Measures(discernibility=8, average_class_size=2.0, classes=2, rows=4, loss={}, suppressed_rows=0)
    >>> '<data value="2">2</data>, of <data value="2.0">2</data> rows on average' in measures_card(costs)
    True
    """
    found = measures.to_dict()
    lines: list[tuple[str, Any]] = [("rows", count(found["rows"]).markup())]
    if found["classes"] is not None:
        lines.append(
            (
                "classes",
                sentence("{}, of {} rows on average", count(found["classes"]), cost(found["average_class_size"])),
            )
        )
    if found["discernibility_ratio"] is not None:
        lines.append(("discernibility", sentence("{} times the least", cost(found["discernibility_ratio"]))))
    if found["suppressed_rows"]:
        share = risk(found["suppressed_share"])
        lines.append(("suppressed", sentence("{} rows, {}", count(found["suppressed_rows"]), share)))
    if "displacement" in found:
        lines.append(("changed", sentence("{} of the cells", risk(found["displacement"]["changed_cells"]))))
    for error in found.get("query_errors", ()):
        asked = f"on {listed([*error['quasi_identifiers'], error['sensitive']])}"
        lines.append(
            ("counts are off", sentence("by {} on average, half of them by {} at most; {}", *_errors(error), asked))
        )
    if found.get("note"):
        lines.append(("not measured", found["note"]))
    return card("What it costs", lines, table=_losses(found["loss"]), following=_NUMBERS, private=True)


def loss_card(loss: Loss) -> str:
    """One measure of loss, altogether and by column.

    >>> '<data value="0.25">0.25</data>' in loss_card(Loss(0.25, 0.25, 0.2, {"age": 0.25}))
    True
    """
    return card("Loss", [], table=_by_column(loss.to_dict(), "loss"), following=_NUMBERS, private=True)


def query_error_card(result: QueryErrorResult) -> str:
    """How far off the COUNT queries of one workload are."""
    found = result.to_dict()
    asked = listed([*found["quasi_identifiers"], found["sensitive"]])
    return _error_card("Counts from the release", found, asked)


def sum_error_card(result: SumErrorResult) -> str:
    """How far off the SUM queries of one workload are, or how far apart their bounds."""
    found = result.to_dict()
    title = "Sums from the release" + (", distance of their bounds" if found["bounded"] else "")
    return _error_card(title, found, found["sensitive"])


def answer_card(answer: Answer) -> str:
    """A count with its certain bounds.

    >>> ">surely</td>" in answer_card(Answer(estimate=12.5, lower=8, upper=20))
    True
    """
    found = answer.to_dict()
    between = sentence("from {} to {}", count(found["lower"]), count(found["upper"]))
    return card("Count", [("about", sentence("{} rows", count(found["estimate"]))), ("surely", between)])


def sum_answer_card(answer: SumAnswer) -> str:
    """A sum with its bounds, rounded outwards, where it has any.

    >>> "without bounds" in sum_answer_card(SumAnswer(estimate=120.5))
    True
    """
    found = answer.to_dict()
    lines: list[tuple[str, Any]] = [("about", count(found["estimate"]).markup())]
    if found["lower"] is None or found["upper"] is None:
        lines.append(("bounds", "without bounds: values were drawn at random"))
    else:
        lines.append(("surely", sentence("from {} to {}", outwards(found["lower"]), outwards(found["upper"], up=True))))
    return card("Sum", lines)


def estimate_card(estimate: Estimate) -> str:
    """An estimate with its standard error, rounded up.

    >>> "one standard error" in estimate_card(Estimate(120.0, 15.0))
    True
    """
    found = estimate.to_dict()
    lines = [
        ("about", count(found["estimate"]).markup()),
        ("give or take", sentence("{} (one standard error)", cost(found["standard_error"]))),
    ]
    return card("Estimate", lines, following="`.interval()` holds the truth 95 times in 100.")


def outwards(value: float, *, up: bool = False) -> Shown:
    """A bound to at least three digits that still bounds.

    >>> outwards(12.345).text, outwards(12.345, up=True).text, outwards(1234.0).text, outwards(-0.1234).text
    ('12.3', '12.4', '1,234', '-0.124')
    """
    digits = max(0, 2 - math.floor(math.log10(abs(value)))) if value else 0
    rounding = ROUND_CEILING if up else ROUND_FLOOR
    text = f"{Decimal(repr(value)).quantize(Decimal(1).scaleb(-digits), rounding=rounding):,f}"
    return Shown(value, text.rstrip("0").rstrip(".") if "." in text else text)


CARDS: tuple[tuple[type[Any], Card], ...] = (
    (Measures, measures_card),
    (Loss, loss_card),
    (QueryErrorResult, query_error_card),
    (SumErrorResult, sum_error_card),
    (Answer, answer_card),
    (SumAnswer, sum_answer_card),
    (Estimate, estimate_card),
)

_NUMBERS = "`.to_dict()` has the numbers."


def _error_card(title: str, found: dict[str, Any], asked: str) -> str:
    mean, median = _errors(found)
    lines = [
        ("queries", sentence("{} on {}", count(found["queries"]), asked)),
        ("off by", sentence("{} on average", mean)),
        ("half of them by", sentence("{} at most", median)),
    ]
    return card(title, lines, following=_NUMBERS, private=True)


def _errors(error: dict[str, Any]) -> tuple[Shown, Shown]:
    return risk(error["mean"]), risk(error["median"])


def _losses(losses: dict[str, Any]) -> Figures | None:
    """The loss that people read, altogether and of the columns that lost most."""
    name = next((name for name in _LOSSES if name in losses), None)
    if name is None:
        return None
    return _by_column(losses[name], f"{_LOSSES[name]} (0 to 1)")


def _by_column(loss: dict[str, Any], title: str) -> Figures:
    columns = sorted(loss["per_column"].items(), key=lambda item: -item[1])[:_MOST_COLUMNS]
    rows = [("altogether", loss["arithmetic"]), *((f"`{column}`", value) for column, value in columns)]
    shown = tuple((label, (Shown(value, cost(value).text, value),)) for label, value in rows)
    return Figures(((title, AFTER),), shown)
