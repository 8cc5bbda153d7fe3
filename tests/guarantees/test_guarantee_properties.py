"""What never changes a guarantee, and what can only change it one way."""

import math

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from effort import examples
from undercover.forms.classes import classes_of_table
from undercover.guarantees.beta_likeness import BetaLikeness
from undercover.guarantees.delta_disclosure import DeltaDisclosure
from undercover.guarantees.k_anonymity import KAnonymity
from undercover.guarantees.l_diversity import LDiversity
from undercover.guarantees.t_closeness import TCloseness

GUARANTEES = [
    KAnonymity(k=2),
    LDiversity(l=2),
    LDiversity(l=2, form="distinct"),
    LDiversity(l=1.5, form="entropy"),
    LDiversity(l=2, form="recursive", c=2),
    TCloseness(t=0.3),
    TCloseness(t=0.3, distance="ordered"),
    DeltaDisclosure(delta=1),
    BetaLikeness(beta=1),
    BetaLikeness(beta=1, enhanced=True),
]
ORDERED = GUARANTEES[6]

cell = st.one_of(st.none(), st.integers(0, 3))
rows = st.lists(st.tuples(cell, cell, st.integers(0, 3)), min_size=1, max_size=25)


def check(table, names=("a", "b"), guarantees=GUARANTEES):
    columns = {name: pa.array([row[i] for row in table]) for i, name in enumerate(("a", "b", "s"))}
    classes = classes_of_table(pa.table(columns), names, ["s"], suppressed_is_star=True)
    return [guarantee.check(classes) for guarantee in guarantees]


def same(first, second):
    for one, other in zip(first, second, strict=True):
        assert one.holds == other.holds
        assert one.actual == other.actual or math.isclose(one.actual, other.actual, rel_tol=1e-12, abs_tol=1e-15)
        assert (one.violating_classes, one.violating_rows) == (other.violating_classes, other.violating_rows)


@given(rows, st.randoms(use_true_random=False))
@examples(25)
def test_row_order_changes_nothing(table, random):
    shuffled = random.sample(table, len(table))
    same(check(table), check(shuffled))


@given(rows)
@examples(25)
def test_column_order_changes_nothing(table):
    same(check(table), check(table, names=("b", "a")))


@given(rows, st.permutations(["p", "q", "r", "t"]), st.permutations(["p", "q", "r", "t"]))
@examples(25)
def test_relabelling_changes_nothing(table, cells, values):
    renamed = [(None if a is None else cells[a], b, values[s]) for a, b, s in table]
    unordered = [guarantee for guarantee in GUARANTEES if guarantee is not ORDERED]
    same(check(table, guarantees=unordered), check(renamed, guarantees=unordered))
    # The ordered distance keeps its value where the relabelling keeps the order.
    monotone = [(a, b, 10 * s + 7) for a, b, s in table]
    same(check(table, guarantees=[ORDERED]), check(monotone, guarantees=[ORDERED]))


@given(rows, st.sets(st.integers(0, 3)))
@examples(25)
def test_coarser_never_lowers_k_or_l(table, merged):
    coarse = [(9 if a in merged else a, b, s) for a, b, s in table]
    for fine, rough in zip(check(table)[:4], check(coarse)[:4], strict=True):
        assert rough.actual >= fine.actual * (1 - 1e-12)


@given(rows)
@examples(25)
def test_one_class_is_the_table_itself(table):
    _, _, _, _, _, equal, ordered, delta, beta, _ = check([(1, 1, s) for _, _, s in table])
    assert equal.actual == ordered.actual == delta.actual == beta.actual == 0


@given(rows)
@examples(25)
def test_holds_is_actual_compared_with_required(table):
    for finding in check(table):
        if finding.name == "delta-disclosure":
            assert finding.holds == (finding.actual < finding.required)
        elif finding.sense == "at least":
            assert finding.holds == (finding.actual >= finding.required - 1e-12)
        else:
            assert finding.holds == (finding.actual <= finding.required + 1e-12)
        assert finding.holds == (finding.violating_classes == 0)
