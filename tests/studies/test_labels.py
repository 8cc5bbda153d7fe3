"""Labels of a crowded frontier: none covers another or leaves the picture, on a wide screen and on a phone."""

import re
import xml.etree.ElementTree as ElementTree
from itertools import combinations

import numpy as np
import pytest

from undercover.pages.compare import frontier_charts
from undercover.pages.placing import BESIDE, LETTER, LINE, Box, Point, placed
from undercover.pages.svg import drawings

WIDTHS, HEIGHT = (230.0, 470.0), 330.0


def crowds():
    draw = np.random.default_rng(3)
    spots = {
        "one spot": [(0.5, 0.5)] * 16,
        "a corner": [(0.99, 0.995)] * 12,
        "a line": [(0.02 + 0.03 * i, 0.9 - 0.02 * i) for i in range(20)],
        "anywhere": draw.random((24, 2)).tolist(),
    }
    return {name: [Point(x, y, f"delta=1/{i}") for i, (x, y) in enumerate(found)] for name, found in spots.items()}


def faults(boxes, width, height):
    """Pairs of boxes that cover each other, and boxes that leave the picture."""
    return [pair for pair in combinations(boxes, 2) if pair[0].meets(pair[1])] + [
        box for box in boxes if box.left < 0 or box.top < 0 or box.right > width or box.bottom > height
    ]


@pytest.mark.parametrize("crowd", crowds())
def test_labels_stand_free_in_every_width(crowd):
    points = crowds()[crowd]
    found = placed(points, WIDTHS, HEIGHT)
    assert None not in found
    for width in WIDTHS:
        at = [(point.x * width, point.y * HEIGHT) for point in points]
        assert faults([box.moved(*place) for box, place in zip(found, at, strict=True)], width, HEIGHT) == []
        careless = [Box(7, -14, 7 + 60, 0).moved(*place) for place in at]
        assert faults(careless, width, HEIGHT)  # what the search finds where nobody places them


def test_what_has_no_text_or_no_room_has_no_label():
    assert placed([Point(0.5, 0.5), Point(0.5, 0.5, "a label that is far too long for this")], [60], 40) == [None, None]
    (box,) = placed([Point(0.5, 0.5, "k=5", half=11)], WIDTHS, HEIGHT)
    assert not box.meets(Box(-11, -11, 11, 11))


def frontier(points):
    releases = [{"series": "Mondrian", "method": "mondrian"}]
    picture = {"id": "crowded", "title": "Crowded", "privacy": "attribute", "utility": "pairwise", "guessing": 0.03}
    return {
        "releases": releases,
        "recommended": {"title": "Mondrian, k=1003"},
        "frontiers": [
            {
                **picture,
                "points": [
                    {"title": f"Mondrian, k={1000 + i}", "series": "Mondrian", "value": str(1000 + i), "risk": risk,
                     "worst": 1.0, "cost": cost, "verdict": ("Ready", "Decide", "Do not publish")[i % 3],
                     "satisfies": i % 3 < 2, "frontier": True}
                    for i, (cost, risk) in enumerate(points)
                ],
            }
        ],
    }  # fmt: skip


def written(drawing):
    """The labels of a drawing with their boxes, and how wide it is."""
    found = {}

    def walk(element, x, y):
        moved = re.match(r"translate\(([-\d.]+),\s*([-\d.]+)\)", element.get("transform", ""))
        x, y = (x + float(moved[1]), y + float(moved[2])) if moved else (x, y)
        text = "".join(element.itertext()) if element.tag.endswith("text") else ""
        if text.startswith("k="):
            found[text] = (x, y, element.get("fill"))
        for child in element:
            walk(child, x, y)

    walk(drawing, 0.0, 0.0)
    wide = {text: LETTER * len(text) + BESIDE for text in found}
    boxes = {text: Box(x, y - LINE * 0.8, x + wide[text], y + LINE * 0.2) for text, (x, y, _) in found.items()}
    size = [float(part) for part in drawing.get("viewBox").split()[2:]]
    return boxes, {text: fill for text, (_, _, fill) in found.items()}, size


def test_a_crowded_frontier_is_legible_at_both_widths():
    points = [(0.2 + 0.004 * i, 0.5 * 0.93**i) for i in range(18)]
    (chart,) = frontier_charts(frontier(points))
    broad, narrow = ElementTree.fromstring(f"<div>{drawings(chart)}</div>")
    for drawing in (broad, narrow):
        boxes, colors, size = written(drawing)
        assert len(boxes) == len(points)
        assert faults(list(boxes.values()), *size) == []
        assert "--good" in colors["k=1000"]
        assert "--bad" in colors["k=1002"]
    assert float(narrow.get("viewBox").split()[2]) <= 358 < float(broad.get("viewBox").split()[2])


def test_one_far_off_does_not_press_the_others_together():
    near = [(0.05 + 0.01 * i, 0.1) for i in range(8)]
    (chart,) = frontier_charts(frontier(near))
    (far,) = frontier_charts(frontier([*near, (4.0, 0.03)]))
    kinds = [one.spec["layer"][1]["encoding"]["x"]["scale"]["type"] for one in (chart, far)]
    assert kinds == ["linear", "log"]
