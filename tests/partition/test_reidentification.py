"""Being found by one known value: the paper's example, and Poisson-binomial distributions by convolution."""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import undercover as uc
from effort import examples
from undercover.methods.mutual_cover.draw import found_among_all, picked_among
from undercover.methods.mutual_cover.tables import output_tables
from undercover.model.groups import Groups
from undercover.model.table import Table
from undercover.threads import however_little

FIGURE_2 = {  # age 29 in the paper's Figure 2
    "Daphne": 0.358924,
    "Helen": 0.679462,
    "Dean": 0.679462,
}


def by_convolution(keep: float, others: list[float]) -> float:
    distribution = np.ones(1)
    for chance in others:
        distribution = np.convolve(distribution, [1 - chance, chance])
    return float(keep * (distribution / np.arange(1, len(distribution) + 1)).sum())


def test_example_1_of_the_paper() -> None:
    others = [FIGURE_2["Daphne"], FIGURE_2["Helen"]]
    assert picked_among(FIGURE_2["Dean"], others) == pytest.approx(0.381925, abs=5e-7)
    # Situations (2) to (4) one by one, as the example adds them up.
    daphne, helen, dean = FIGURE_2.values()
    alone = (1 - daphne) * (1 - helen) * dean
    two = ((1 - daphne) * helen + daphne * (1 - helen)) * dean
    three = daphne * helen * dean
    assert (round(alone, 3), round(two, 3)) == (0.14, 0.374)
    assert picked_among(dean, others) == pytest.approx(alone + two / 2 + three / 3, abs=1e-12)


def test_delta_is_not_the_probability_of_being_found() -> None:
    assert picked_among(1, [0.5, 0.5]) == pytest.approx(7 / 12, abs=1e-12)
    assert max([1, 0.5, 0.5]) / sum([1, 0.5, 0.5]) == 0.5


@examples(40)
@given(st.floats(0, 1), st.lists(st.floats(0, 1), max_size=40))
def test_as_by_convolution(keep: float, others: list[float]) -> None:
    assert picked_among(keep, others) == pytest.approx(by_convolution(keep, others), rel=1e-10, abs=1e-14)


@pytest.mark.parametrize("largest", [1.0, 0.3, 0.01])
@pytest.mark.parametrize("n", [200, 2000])
def test_many_carriers(n: int, largest: float) -> None:
    others = (np.random.default_rng(n).random(n) * largest).tolist()
    assert picked_among(0.7, others) == pytest.approx(by_convolution(0.7, others), rel=1e-10)
    assert picked_among(0.7, [1.0] * n) == pytest.approx(0.7 / (n + 1), rel=1e-10)
    assert picked_among(0.7, [1.0] * n) != pytest.approx(0.7 / n, rel=1e-5)


@however_little()
@pytest.mark.parametrize("columns", ["observed", "integer_range"])
def test_over_all_groups_that_may_carry_a_value(columns: str) -> None:
    ages = [28, 29, 29, 32, 33, 35, 29, 29, 30, 31, 33, 36]
    data = pa.table({"age": ages, "sex": list("fmfmffmmffmf"), "ill": list("abcdefghijkl")})
    table = Table.from_arrow(data, uc.Schema(quasi_identifiers=["age", "sex"], sensitive="ill"))
    groups = Groups(np.repeat(np.array([0, 1], dtype=np.int32), 6), 2)
    found = output_tables(table, groups, delta=Fraction(1, 3), columns=columns)
    among = found_among_all(table, found, threads=2)
    for a in (0, 1):
        outputs, labels = found.distances[a].outputs.labels, table[found.attributes[a]].domain.labels
        carriers: dict[str, list[float]] = {}  # of every value, a probability per record
        for g in (0, 1):
            one = found.table(attribute=a, group=g)
            for line, count in zip(one.probabilities, one.counts, strict=True):
                for code, chance in zip(one.outputs, line, strict=True):
                    carriers.setdefault(outputs[code], []).extend([float(chance)] * int(count))
        for g in (0, 1):
            one, p = found.table(attribute=a, group=g), found.number(attribute=a, group=g)
            for i, original in enumerate(one.originals):
                label, released = labels[original], [outputs[code] for code in one.outputs]
                expected = 0.0
                if label in released:
                    keep, others = float(one.probabilities[i, released.index(label)]), list(carriers[label])
                    others.remove(keep)
                    expected = by_convolution(keep, others)
                assert among[found.row_starts[p] + i] == pytest.approx(expected, rel=1e-10)


def test_the_run_gives_both_figures_and_more_rows_hide_better() -> None:
    people = uc.datasets.census(2000, seed=3)
    run = uc.publish(
        people,
        uc.Schema(quasi_identifiers=["age", "sex"], sensitive="income"),
        uc.MutualCover(variant="paper", delta="1/4", l=4),
    )
    found = run.diagnostics["reidentification_by_one_value"]
    assert 0 < found["over_all_rows"]["mean"] < found["mean"]
    assert found["over_all_rows"]["max"] <= found["max"] + 1e-12
