import math

import pyarrow as pa
import pytest

import undercover as uc
from undercover.datasets.hospital import hospital
from undercover.errors import ParameterError
from undercover.forms.classes import classes_of_table
from undercover.guarantees.k_anonymity import KAnonymity
from undercover.guarantees.l_diversity import LDiversity

# Class A: flu 2, cold 1, gout 1 (4 rows). Class B: flu 3, cold 2, gout 1 (6 rows).
ROWS = [("A", s) for s in ("flu", "flu", "cold", "gout")] + [("B", s) for s in ("flu",) * 3 + ("cold",) * 2 + ("gout",)]


def classes(rows=ROWS):
    table = pa.table({"q": [row[0] for row in rows], "s": [row[1] for row in rows]})
    return classes_of_table(table, ["q"], ["s"], suppressed_is_star=True)


def test_k():
    finding = KAnonymity(k=5).check(classes())
    assert (finding.actual, finding.holds, finding.violating_classes, finding.violating_rows) == (4, False, 1, 4)
    assert finding.examples == ({"cells": {"q": "A"}, "size": 4, "actual": 4},)
    assert KAnonymity(k=4).check(classes()).holds


def test_frequency():
    # A: 4/2 = 2, B: 6/3 = 2; both exactly 2-diverse.
    finding = LDiversity(l=2).check(classes())
    assert (finding.actual, finding.holds) == (2.0, True)
    assert not LDiversity(l=2.01).check(classes()).holds


def test_frequency_in_whole_numbers():
    # One of three rows each: 1/3 as a float times 3 may miss 1; 49 equal values and l = 49 as well.
    rows = [("A", str(i)) for i in range(49)]
    assert LDiversity(l=49).check(classes(rows)).holds
    assert not LDiversity(l="2451/50").check(classes(rows)).holds


def test_distinct():
    finding = LDiversity(l=3, form="distinct").check(classes())
    assert (finding.actual, finding.holds) == (3, True)
    assert isinstance(finding.actual, int)
    assert not LDiversity(l=4, form="distinct").check(classes()).holds


def test_entropy():
    # A: shares 1/2, 1/4, 1/4: H = 1/2 log 2 + 1/2 log 4 = 1.5 log 2, exp(H) = 2^1.5 = 2.828
    # B: shares 1/2, 1/3, 1/6: H = log 6 - (3 log 3 + 2 log 2)/6, exp(H) = 6 / (27 · 4)^(1/6) = 2.7495
    finding = LDiversity(l=2.7, form="entropy").check(classes())
    assert finding.actual == pytest.approx(6 / 108 ** (1 / 6), rel=1e-12)
    assert finding.holds
    finding = LDiversity(l=2.8, form="entropy").check(classes())
    assert finding.violators.tolist() == [1]


@pytest.mark.parametrize("l", range(1, 60))
def test_entropy_of_equal_shares_is_exactly_enough(l):  # noqa: E741
    rows = [("A", str(i % l)) for i in range(7 * l)]
    finding = LDiversity(l=l, form="entropy").check(classes(rows))
    assert finding.holds
    assert finding.shown() == str(l)


def test_recursive():
    # l = 2: A: 2 <= c · (1 + 1), B: 3 <= c · (2 + 1); both need c >= 1. l = 3: A: 2 <= c · 1, B: 3 <= c · 1; c >= 3.
    assert LDiversity(l=2, form="recursive", c=1).check(classes()).holds
    assert not LDiversity(l=2, form="recursive", c=0.99).check(classes()).holds
    finding = LDiversity(l=3, form="recursive", c="299/100").check(classes())
    assert (finding.holds, finding.actual, finding.violators.tolist()) == (False, 2, [1])
    assert LDiversity(l=3, form="recursive", c=3).check(classes()).actual == 3
    # l = 1: A: 2 <= c · 4 and B: 3 <= c · 6 both need c >= 1/2; below that not even l = 1 holds.
    assert LDiversity(l=1, form="recursive", c=0.5).check(classes()).actual == 1
    assert LDiversity(l=1, form="recursive", c=0.49).check(classes()).actual == 0


def test_recursive_at_equality_is_what_our_own_example_says():
    # Tao, Xiao, Li & Zhang, Figure 1: counts 3, 2, 2, 2, 1, 1, so that 3 = 1/2 · (2 + 2 + 1 + 1).
    example = hospital("perturbed-generalization-group")
    group = classes_of_table(example.table, ["group"], ["disease"], suppressed_is_star=True)
    assert LDiversity(l=3, form="recursive", c="1/2").check(group).holds
    assert not LDiversity(l=3, form="recursive", c="499999/1000000").check(group).holds
    assert not LDiversity(l=4, form="recursive", c="1/2").check(group).holds
    run = uc.publish(example.table, example.schema, uc.Mondrian(k=2, l=3, diversity="recursive", c="1/2"))
    assert run.release.guarantees[-1]["holds"]


def test_several_columns_report_the_worst():
    data = pa.table({"q": [1, 1, 1, 1], "a": ["x", "x", "y", "z"], "b": ["u", "u", "u", "v"]})
    both = classes_of_table(data, ["q"], ["a", "b"], suppressed_is_star=True)
    finding = LDiversity(l=2).check(both)
    assert finding.actual == 4 / 3
    assert [example["column"] for example in finding.examples] == ["b"]
    assert LDiversity(l=2, column="a").check(both).holds
    with pytest.raises(ParameterError, match="Sensitive column `c`"):
        LDiversity(l=2, column="c").check(both)


def test_without_a_sensitive_column():
    plain = classes_of_table(pa.table({"q": [1]}), ["q"], suppressed_is_star=True)
    with pytest.raises(ParameterError, match="no column is sensitive"):
        LDiversity(l=2).check(plain)


def test_a_missing_value_is_a_value():
    assert LDiversity(l=2, form="distinct").check(classes([("A", "flu"), ("A", None)])).holds


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: KAnonymity(k=0), r"The 'k' parameter of KAnonymity must be an int in \[1, inf\). Got 0 instead."),
        (lambda: KAnonymity(k=True), "Got True instead"),
        (lambda: KAnonymity(k=2.5), "Got 2.5 instead"),
        (lambda: LDiversity(l=0.5), r"The 'l' parameter of LDiversity must be a number in \[1, inf\). Got 0.5"),
        (lambda: LDiversity(l=2.5, form="distinct"), "must be an int in"),
        (lambda: LDiversity(l=math.inf), "Got inf"),
        (lambda: LDiversity(l="many"), "Got 'many'"),
        (lambda: LDiversity(l=2, form="recursive"), "The 'c' parameter"),
        (lambda: LDiversity(l=2, form="recursive", c=0), "The 'c' parameter"),
        (lambda: LDiversity(l=2, c=3), 'belongs to form = "recursive"'),
        (lambda: LDiversity(l=2, form="frequent"), "Did you mean `frequency`"),
    ],
)
def test_parameters_are_checked(make, message):
    with pytest.raises(ParameterError, match=message):
        make()


def test_all_problems_of_one_guarantee_together():
    with pytest.raises(ParameterError) as caught:
        LDiversity(l=0, form="frequent", c=1)
    assert len(caught.value.problems) == 3
