"""Every guarantee against its definition, on random small tables; and the oracle against planted faults."""

import math
from fractions import Fraction

import guarantee_oracle as oracle
import numpy as np
import pyarrow as pa
import pytest

from undercover.forms.classes import classes_of_table
from undercover.guarantees.beta_likeness import BetaLikeness
from undercover.guarantees.delta_disclosure import DeltaDisclosure
from undercover.guarantees.k_anonymity import KAnonymity
from undercover.guarantees.l_diversity import LDiversity
from undercover.guarantees.t_closeness import TCloseness

TREE = [("a", "ab", "abc", "*"), ("b", "ab", "abc", "*"), ("c", "c", "abc", "*"), ("d", "d", "d", "*")]
FRACTIONS = [Fraction(n, d) for d in (1, 2, 3, 4, 5, 6, 7, 12) for n in range(1, 4 * d)]


def random_rows(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 30))
    cells = [None, "x", "*", "y"][: int(rng.integers(1, 5))]
    values = list("abcd")[: int(rng.integers(1, 5))]
    rows = [
        (cells[rng.integers(len(cells))], cells[rng.integers(len(cells))], values[rng.integers(len(values))])
        for _ in range(n)
    ]
    if rng.random() < 0.5:
        rows = rows * 2 + [("*", "*", values[0])]
    if not oracle.classes(rows):
        rows.append(("x", "x", "a"))
    return rows


def classes(rows):
    data = pa.table(
        {
            "p": pa.array([row[0] for row in rows], pa.string()),
            "q": pa.array([row[1] for row in rows], pa.string()),
            "s": pa.array([row[2] for row in rows], pa.string()),
        }
    )
    return classes_of_table(data, ["p", "q"], ["s"], suppressed_is_star=True)


@pytest.mark.parametrize("seed", range(250))
def test_every_guarantee(seed):
    rows = random_rows(seed)
    found = classes(rows)
    rng = np.random.default_rng(1000 + seed)
    bound = FRACTIONS[rng.integers(len(FRACTIONS))]
    above_one = bound if bound >= 1 else 1 / bound
    below_one = min(bound, 1 / bound)
    whole = math.ceil(above_one)

    assert KAnonymity(k=whole).check(found).actual == oracle.k(rows)
    assert KAnonymity(k=whole).check(found).holds == (oracle.k(rows) >= whole)

    frequency = LDiversity(l=above_one).check(found)
    assert frequency.actual == pytest.approx(float(oracle.frequency_l(rows)))
    assert frequency.holds == (oracle.frequency_l(rows) >= above_one)

    distinct = LDiversity(l=whole, form="distinct").check(found)
    assert (distinct.actual, distinct.holds) == (oracle.distinct_l(rows), oracle.distinct_l(rows) >= whole)

    entropy = LDiversity(l=above_one, form="entropy").check(found)
    assert entropy.actual == pytest.approx(oracle.entropy_l(rows))
    assert entropy.holds == (oracle.entropy_l(rows) >= float(above_one) * (1 - 1e-9))

    recursive = LDiversity(l=whole, form="recursive", c=bound).check(found)
    assert recursive.holds == oracle.recursive_holds(rows, bound, whole)
    assert recursive.actual == max(
        (tried for tried in range(1, 6) if oracle.recursive_holds(rows, bound, tried)), default=0
    )

    for distance, value, more in (
        ("equal", oracle.equal_t(rows), {}),
        ("ordered", oracle.ordered_t(rows, list("abcd")), {}),
        ("ordered", oracle.ordered_t(rows, list("dbca")), {"order": list("dbca")}),
        ("hierarchical", oracle.hierarchical_t(rows, TREE), {"hierarchy": TREE}),
    ):
        for t in {below_one, value}:
            finding = TCloseness(t=t, distance=distance, **more).check(found)
            assert finding.actual == pytest.approx(float(value), abs=1e-15)
            assert finding.holds == (value <= t), (distance, t)

    delta = DeltaDisclosure(delta=bound).check(found)
    assert delta.actual == pytest.approx(oracle.delta(rows), abs=1e-12)
    assert delta.holds == (oracle.delta(rows) < bound)

    for beta in {bound, oracle.beta(rows)} - {0}:
        likeness = BetaLikeness(beta=beta).check(found)
        assert likeness.actual == pytest.approx(float(oracle.beta(rows)))
        assert likeness.holds == (oracle.beta(rows) <= beta)
        assert BetaLikeness(beta=beta, enhanced=True).check(found).holds == oracle.enhanced_holds(rows, beta)


def test_the_tables_tell_a_checker_that_ignores_missing_values_apart():
    rows = [random_rows(seed) for seed in range(250)]
    without = [[row for row in table if None not in row[:2]] for table in rows]
    assert any(
        oracle.classes(less) and oracle.k(less) > oracle.k(table) for less, table in zip(without, rows, strict=True)
    )


def test_the_tables_tell_a_checker_that_takes_suppressed_rows_for_a_class_apart():
    rows = [random_rows(seed) for seed in range(250)]
    as_class = [min(len(values) for values in oracle.classes(table, star=False)) for table in rows]
    assert any(wrong < oracle.k(table) for wrong, table in zip(as_class, rows, strict=True))


def test_large_numbers_are_still_exact():
    # 3 million rows, a third each: the products no longer fit a short comparison, and a third is still a third.
    n = 1_000_000
    data = pa.table({"q": np.zeros(3 * n, dtype=np.int8), "s": np.repeat(np.arange(3), n)})
    found = classes_of_table(data, ["q"], ["s"], suppressed_is_star=True)
    assert LDiversity(l=3).check(found).holds
    assert not LDiversity(l=3 + 1e-15).check(found).holds
    assert TCloseness(t=0).check(found).holds
