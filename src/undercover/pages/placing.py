"""Labels of points, placed so that none covers another or leaves the picture, however wide it is drawn.

A label is tried at the eight sides of its point, near ones first, and must be free in every width; where it has to
stand off, a thin line leads to it. A label stays as many pixels from its point in every drawing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

LETTER, BESIDE, LINE = 7.7, 2.5, 14.0
"""Of a label of 12 pixels: how wide a digit is in a wide font, what a sign of equality takes beyond it, and a line."""
MARK = 6.0  # half the width of a mark
_DISTANCES = (2.0, 8.0, 16.0, 26.0, 38.0, 52.0, 70.0, 92.0, 120.0, 155.0, 200.0)
_SIDES = ((1, -1), (1, 0), (1, 1), (-1, -1), (-1, 1), (-1, 0), (0, -1), (0, 1))
_FARTHEST = 400
_ON_A_MARK = 30.0  # pixels of distance that a label would rather go than stand on a mark


class Box(NamedTuple):
    """Where something stands, in pixels from the upper left corner."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Box) -> bool:
        """Whether two boxes cover each other somewhere.

        >>> Box(0, 0, 2, 2).meets(Box(1, 1, 3, 3)), Box(0, 0, 2, 2).meets(Box(2, 0, 3, 2))
        (True, False)
        """
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )

    def moved(self, x: float, y: float) -> Box:
        """The same box elsewhere."""
        return Box(self.left + x, self.top + y, self.right + x, self.bottom + y)

    def nearest(self) -> tuple[float, float]:
        """What of the box is nearest to where it is counted from."""
        return min(max(0.0, self.left), self.right), min(max(0.0, self.top), self.bottom)


class Point(NamedTuple):
    """Where a point is, as shares of width and height from the upper left corner, and what is written beside it."""

    x: float
    y: float
    text: str = ""
    half: float = MARK  # of the width of its mark


def placed(points: Sequence[Point], widths: Sequence[float], height: float) -> list[Box | None]:
    """The box of every label, from its point; ``None`` where nothing is written, or no room is left.

    >>> [first, second] = placed([Point(0.1, 0.2, "k=5"), Point(0.1, 0.2, "k=10")], [100, 400], 100)
    >>> first.meets(second)
    False
    """
    drawings = [[(point.x * width, point.y * height) for point in points] for width in widths]
    marks = [
        [Box(-one.half, -one.half, one.half, one.half).moved(x, y) for one, (x, y) in zip(points, drawing, strict=True)]
        for drawing in drawings
    ]
    taken: list[list[Box]] = [[] for _ in widths]
    found: list[Box | None] = [None] * len(points)
    for place in sorted(range(len(points)), key=lambda place: (points[place].x, -points[place].y)):
        best: tuple[float, Box] | None = None
        for distance, box in _around(points[place]):
            if best is not None and best[0] <= distance:
                break
            boxes = [box.moved(*drawing[place]) for drawing in drawings]
            free = all(
                one.left >= 0 and one.top >= 0 and one.right <= width and one.bottom <= height
                and not any(one.meets(other) for other in others)
                for one, width, others in zip(boxes, widths, taken, strict=True)
            )  # fmt: skip
            if free:
                on = max(sum(one.meets(mark) for mark in there) for one, there in zip(boxes, marks, strict=True))
                best = min(best or (math.inf, box), (distance + _ON_A_MARK * on, box))
        if best is not None:
            found[place] = best[1]
            for drawing, others in zip(drawings, taken, strict=True):
                others.append(best[1].moved(*drawing[place]))
    return found


def _around(point: Point) -> Iterator[tuple[float, Box]]:
    """Boxes on all sides of a point that is labelled, with how far off each is, the nearest first; then all places."""
    if not point.text:
        return
    wide = LETTER * len(point.text) + BESIDE
    for distance, (side, above) in product(_DISTANCES, _SIDES):
        away = point.half + distance * (0.75 if side and above else 1.0)
        left = side * away - (wide if side < 0 else wide / 2 if not side else 0.0)
        top = above * (away + LINE / 2 if not side else away - point.half + LINE / 2) - LINE / 2
        yield distance, Box(left, top, left + wide, top + LINE)
    places = product(range(-_FARTHEST, _FARTHEST, 10), range(-_FARTHEST, _FARTHEST, 7))
    boxes = (Box(left, top, left + wide, top + LINE) for left, top in places)
    yield from sorted((_FARTHEST + math.hypot(*box.nearest()), box) for box in boxes)
