"""The figures of an experiment as tidy rows, and how plots and claims read them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

COLUMNS = ("experiment", "figure", "series", "x", "measure", "value", "repetition")


class NotMeasuredError(LookupError):
    """A figure that a claim needs and no cell could measure."""


@dataclass(frozen=True)
class Row:
    """One measured value."""

    experiment: str
    figure: str
    series: str
    x: float | str
    measure: str
    value: float
    repetition: int = 0


@dataclass(frozen=True)
class Rows:
    """Measured values, in the order of their cells."""

    rows: tuple[Row, ...]

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def values(
        self, figure: str, series: str | None = None, measure: str | None = None, x: float | str | None = None
    ) -> list[float]:
        """All values that fit; what is left out does not matter."""
        return [
            row.value
            for row in self.rows
            if row.figure == figure
            and (series is None or row.series == series)
            and (measure is None or row.measure == measure)
            and (x is None or row.x == x)
        ]

    def found(self, figure: str, series: str, measure: str, x: float | str | None = None) -> list[float]:
        """The same, if there are any."""
        found = self.values(figure, series, measure, x)
        if not found:
            raise NotMeasuredError(f"{measure} was not measured for {series}" + (f" at {x}" if x is not None else ""))
        return found

    def mean(self, figure: str, series: str, measure: str, x: float | str | None = None) -> float:
        """The mean over repetitions (and over every x, where none is named)."""
        found = self.found(figure, series, measure, x)
        return sum(found) / len(found)

    def means(self, figure: str, series: str, measure: str) -> dict[Any, float]:
        """The mean at every x of the series, by ascending x."""
        return {x: self.mean(figure, series, measure, x) for x in sorted(self.xs(figure, series))}

    def least(self, figure: str, series: str, measure: str, x: float | str | None = None) -> float:
        """The least of the repetitions: of a duration, the one that was disturbed least."""
        return min(self.found(figure, series, measure, x))

    def xs(self, figure: str, series: str) -> list[Any]:
        """Where the series was measured, in the order of its cells."""
        return list(dict.fromkeys(row.x for row in self.rows if row.figure == figure and row.series == series))

    def points(
        self, figure: str, measure: str, *, panel: str = "", series: Iterable[str] | None = None
    ) -> list[dict[str, Any]]:
        """Mean, least and greatest value over the repetitions of every series and x, ready to be drawn."""
        wanted = None if series is None else set(series)
        grouped: dict[tuple[str, float | str], list[Row]] = {}
        for row in self.rows:
            if row.figure == figure and row.measure == measure and (wanted is None or row.series in wanted):
                grouped.setdefault((row.series, row.x), []).append(row)
        return [_point(panel, same) for same in grouped.values()]

    def panels(
        self, figure: str, measures: Mapping[str, str], series: Iterable[str] | None = None
    ) -> list[dict[str, Any]]:
        """The points of several measures, each in the panel of that title."""
        return [
            point
            for measure, panel in measures.items()
            for point in self.points(figure, measure, panel=panel, series=series)
        ]


def _point(panel: str, rows: Sequence[Row]) -> dict[str, Any]:
    values = [row.value for row in rows]
    return {
        "panel": panel,
        "series": rows[0].series,
        "x": rows[0].x,
        "mean": sum(values) / len(values),
        "min": min(values),
        "max": max(values),
        "count": len(values),
    }
