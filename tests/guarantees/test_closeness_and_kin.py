import datetime
import math
from fractions import Fraction

import pyarrow as pa
import pytest

from undercover.errors import ParameterError
from undercover.forms.classes import classes_of_table
from undercover.guarantees.beta_likeness import BetaLikeness
from undercover.guarantees.delta_disclosure import DeltaDisclosure
from undercover.guarantees.t_closeness import TCloseness

TREE = [("flu", "lung"), ("cold", "lung"), ("gout", "joint"), ("rash", "skin")]


def classes(groups):
    rows = [(label, value) for label, values in groups.items() for value in values]
    table = pa.table({"q": [row[0] for row in rows], "s": pa.array([row[1] for row in rows])})
    return classes_of_table(table, ["q"], ["s"], suppressed_is_star=True)


def test_the_salaries_of_li_et_al():
    # Nine salaries 3k..11k. For {3k, 4k, 5k} the ordered distance is 0.375, for {6k, 8k, 11k} it is 0.167; the third
    # class {7k, 9k, 10k}: cumulative differences in ninths -1 -2 -3 -4 -2 -3 -1 1 (0) -> 17/72 = 0.236.
    salaries = classes({"A": [3, 4, 5], "B": [6, 8, 11], "C": [7, 9, 10]})
    finding = TCloseness(t=0.3, distance="ordered").check(salaries)
    assert finding.actual == 0.375
    assert finding.violators.tolist() == [0]
    assert TCloseness(t=0.375, distance="ordered").check(salaries).holds
    assert not TCloseness(t="374/1000", distance="ordered").check(salaries).holds
    per_class = {e["cells"]["q"]: e["actual"] for e in TCloseness(t=0, distance="ordered").check(salaries).examples}
    assert per_class == pytest.approx({"A": 0.375, "B": 1 / 6, "C": 17 / 72})


def test_numbers_read_as_text_keep_their_order():
    texts = classes({"A": ["3", "4", "5"], "B": ["6", "8", "11"], "C": ["7", "9", "10"]})
    assert TCloseness(t=0.3, distance="ordered").check(texts).actual == 0.375


def test_dates_ascend_and_missing_comes_last():
    day = datetime.date
    dated = classes({"A": [day(2020, 1, 1), day(2021, 1, 1)], "B": [None, day(1999, 1, 1)]})
    # order: 1999 (B), 2020 (A), 2021 (A), missing (B); A: -1/4, 0, 1/4 -> 1/2 / 3 = 1/6
    assert TCloseness(t=1, distance="ordered").check(dated).actual == pytest.approx(1 / 6)


def test_a_given_order():
    sizes = classes({"A": ["low", "low"], "B": ["high", "middle"]})
    # by the given order low, middle, high: A: p-q cumulated 1/2, 1/4, 0 -> 3/4 / 2 = 3/8
    assert TCloseness(t=1, distance="ordered", order=["low", "middle", "high"]).check(sizes).actual == 0.375
    # by label high, low, middle: A: -1/4, 1/4, 0 -> 1/4
    assert TCloseness(t=1, distance="ordered").check(sizes).actual == 0.25
    finding = TCloseness(t=1, distance="ordered", order=["low", "high"]).check(sizes)
    assert (finding.holds, finding.actual) == (False, None)
    assert "lacks 1 value" in finding.note


def test_equal_distance():
    # Table: flu 3/6, cold 2/6, gout 1/6. A: flu 2/3, gout 1/3: surplus 1/6 + 1/6 = 1/3.
    finding = TCloseness(t="1/3").check(classes({"A": ["flu", "flu", "gout"], "B": ["flu", "cold", "cold"]}))
    assert finding.actual == pytest.approx(1 / 3)
    assert finding.holds
    assert (
        not TCloseness(t=0.333333333333)
        .check(classes({"A": ["flu", "flu", "gout"], "B": ["flu", "cold", "cold"]}))
        .holds
    )


def test_hierarchical_distance():
    # q = 1/4 each. A = {flu, cold}: extras lung +1/2, joint -1/4, skin -1/4; nothing moves inside lung; at the root
    # min(1/2, 1/2) · 2/2 = 1/2. B = {gout, rash} is the mirror image.
    apart = classes({"A": ["flu", "cold"], "B": ["gout", "rash"]})
    assert TCloseness(t=1, distance="hierarchical", hierarchy=TREE).check(apart).actual == 0.5
    # A = {flu, gout}: flu +1/4, cold -1/4 meet in lung: 1/2 · 1/4 = 1/8; root: lung 0, joint +1/4, skin -1/4: 1/4.
    mixed = classes({"A": ["flu", "gout"], "B": ["cold", "rash"]})
    assert TCloseness(t=1, distance="hierarchical", hierarchy=TREE).check(mixed).actual == 0.375
    gap = TCloseness(t=1, distance="hierarchical", hierarchy=TREE[:3]).check(mixed)
    assert (gap.holds, "lacks 1 value" in gap.note) == (False, True)


def test_missing_hangs_under_the_root():
    # q: flu 1/2, missing 1/2; a class of flu alone moves 1/2 over the root.
    finding = TCloseness(t=1, distance="hierarchical", hierarchy=TREE).check(classes({"A": ["flu"], "B": [None]}))
    assert finding.actual == 0.5


def test_one_value_everywhere_is_no_distance():
    for distance in ("equal", "ordered"):
        assert TCloseness(t=0, distance=distance).check(classes({"A": ["flu"], "B": ["flu"] * 2})).actual == 0


def test_delta_disclosure():
    # Table: flu 4/6, cold 2/6. A: flu 1/2, cold 1/2; B: flu 3/4, cold 1/4. log(p/q): A: log 3/4, log 3/2; B: log 9/8,
    # log 3/4. The largest is log 3/2 = 0.405.
    spread = classes({"A": ["flu", "cold"], "B": ["flu", "flu", "flu", "cold"]})
    finding = DeltaDisclosure(delta=0.41).check(spread)
    assert finding.actual == pytest.approx(math.log(3 / 2))
    assert finding.holds
    assert DeltaDisclosure(delta=0.4).check(spread).violators.tolist() == [0]
    absent = DeltaDisclosure(delta=100).check(classes({"A": ["flu", "cold"], "B": ["flu"]}))
    assert (absent.holds, absent.actual, absent.violators.tolist()) == (False, math.inf, [1])
    assert absent.to_dict()["actual"] == "inf"
    assert absent.shown() == "∞"


def test_delta_is_strict():
    even = classes({"A": ["flu", "cold"], "B": ["flu", "cold", "cold", "flu"]})
    finding = DeltaDisclosure(delta=1e-9).check(even)
    assert (finding.actual, finding.holds) == (0.0, True)


def test_beta_likeness():
    # Table: flu 6/8, cold 2/8. A: flu 2/4, cold 2/4: cold gains (1/2 - 1/4)/(1/4) = 1. B: flu 1: (1 - 3/4)/(3/4) = 1/3.
    spread = classes({"A": ["flu", "flu", "cold", "cold"], "B": ["flu"] * 4})
    finding = BetaLikeness(beta=1).check(spread)
    assert (finding.actual, finding.holds) == (1.0, True)
    assert BetaLikeness(beta="99/100").check(spread).violators.tolist() == [0]
    # Enhanced: cold may gain -ln(1/4) = 1.39, flu only -ln(3/4) = 0.288 < 1/3: class B fails for every beta.
    enhanced = BetaLikeness(beta=5, enhanced=True).check(spread)
    assert (enhanced.holds, enhanced.actual, enhanced.violators.tolist()) == (False, math.inf, [1])
    mild = classes({"A": ["flu", "flu", "cold", "cold"], "B": ["flu", "flu", "flu", "cold"]})
    # Table: flu 5/8, cold 3/8. cold in A gains 1/3 <= 0.98, flu in B gains 1/5 <= 0.47.
    assert BetaLikeness(beta=1, enhanced=True).check(mild).actual == pytest.approx(1 / 3)


def test_parameters_survive_a_manifest():
    guarantee = TCloseness(t=Fraction(1, 5), distance="hierarchical", hierarchy=TREE, column="s")
    written = guarantee.parameters()
    assert written["t"] == "1/5"
    assert written["hierarchy"][0] == ["flu", "lung", "*"]
    assert TCloseness(**written) == guarantee


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: TCloseness(t=1.5), r"The 't' parameter of TCloseness must be a number in \[0, 1\]. Got 1.5"),
        (lambda: TCloseness(t=0.1, distance="hierarchical"), "The 'hierarchy' parameter"),
        (lambda: TCloseness(t=0.1, hierarchy=TREE), "The 'hierarchy' parameter"),
        (lambda: TCloseness(t=0.1, order=["a"]), "The 'order' parameter"),
        (lambda: TCloseness(t=0.1, distance="ordered", order=["a", "a"]), "The 'order' parameter"),
        (lambda: TCloseness(t=0.1, distance="order"), "Did you mean `ordered`"),
        (lambda: TCloseness(t=0.1, distance="hierarchical", hierarchy=[("a", "b"), ("c",)]), "levels"),
        (lambda: DeltaDisclosure(delta=0), "The 'delta' parameter of DeltaDisclosure"),
        (lambda: BetaLikeness(beta=-1), "The 'beta' parameter of BetaLikeness"),
        (lambda: BetaLikeness(beta=1, enhanced="yes"), "The 'enhanced' parameter"),
    ],
)
def test_parameters_are_checked(make, message):
    with pytest.raises(ParameterError, match=message):
        make()
