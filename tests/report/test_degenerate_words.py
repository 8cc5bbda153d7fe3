"""Words where there is one of something, or a promise asks for nothing: no "1 rows", no "at least 0 others"."""

import html
import re

import pyarrow as pa
import pytest

import undercover as uc
from undercover.model.figures import counted
from undercover.pages.cards import card_of
from undercover.pages.datasheet import datasheet_summary
from undercover.pages.render import datasheet_html, overview_html, report_html
from undercover.verbs.report import summarize

SEVERAL = (
    "rows|people|persons|classes|others|releases|methods|values|groups|buckets|columns|queries|repetitions|claims|cells|"
    "papers|entries|tables|promises|reasons|sums|answers|records|pairs|distributions|combinations|levels"
)
NONSENSE = re.compile(
    rf"(?<![\d.,/=\]-])\b1 (?:other |different )?(?:{SEVERAL})\b"
    r"|\b0 others?\b|at least 0\b|(?<!\d)(?<!, )1-(?:anonymity|diversity)"
)
INLINE = re.compile(r"</?(?:data|code|small|span|strong)\b[^>]*>")


def nonsense(page):
    """What a page says wrongly, each with what stands around it."""
    text = re.sub(r"<(style|script|pre)\b.*?</\1>", "", page, flags=re.DOTALL)
    text = html.unescape(re.sub(r"<[^>]+>", " | ", INLINE.sub("", text)))
    text = " ".join(text.split())
    return [text[max(0, found.start() - 40) : found.end() + 40] for found in NONSENSE.finditer(text)]


def people(rows):
    values = ["flu", "cold", "gout", "rash"][: max(2, min(4, rows))]
    ills = [values[i % len(values)] for i in range(rows)]
    return pa.table({"age": [20 + i % 2 for i in range(rows)], "sex": ["FM"[i % 2] for i in range(rows)], "ill": ills})


DOMAIN = {"ill": uc.Column(domain=["flu", "cold", "gout", "rash"])}
CASES = {
    "one person": (1, uc.Mondrian(k=1)),
    "one each": (2, uc.Mondrian(k=1)),
    "one class": (4, uc.Mondrian(k=4)),
    "k = 1 beside l": (4, uc.Mondrian(k=1, l=2)),
    "full domain": (8, uc.Incognito(k=1, l=2, diversity="distinct")),
    "one bucket": (2, uc.Anatomy(l=2)),
    "one group": (2, uc.Streamliner(l=2)),
    "one group of permuted": (2, uc.MutualCover(l=2, delta="1/2")),
    "one published": (8, uc.PerturbedGeneralization(k=8, p=0.3)),
    "all published": (8, uc.PerturbedGeneralization(k=1, p=0.3)),
    "boxes of one": (8, uc.CrossBucket(k=1, l=2)),
}


@pytest.mark.parametrize("case", CASES)
def test_pages_and_cards_count_as_people_do(case):
    rows, method = CASES[case]
    schema = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="ill", columns=DOMAIN)
    run = uc.publish(people(rows), schema, method, seed=1)
    summary = summarize(run)
    sheet = datasheet_html(datasheet_summary(run.release))
    said = [report_html(summary), sheet, overview_html([{"summary": summary}]), card_of(run), repr(run.original)]
    assert [found for page in said for found in nonsense(page)] == []


def test_the_search_finds_what_is_wrong():
    for wrong in ("1 rows", '<data value="1">1</data> classes', "1-anonymity", "at least 0 others", "1 other rows"):
        assert nonsense(f"<p>There are {wrong} here</p>"), wrong
    for right in (
        "1 row",
        "11 rows",
        "k=1 rows",
        "0.1 people",
        "(1, 2)-anonymity",
        "21-anonymity",
        "<pre>1 rows</pre>",
    ):
        assert nonsense(f"<p>There are {right} here</p>") == [], right


@pytest.mark.parametrize(
    "promise",
    [uc.KAnonymity(k=1), uc.KLAnonymity(k=1, l=2), uc.LDiversity(l=1), uc.LDiversity(l=1, form="distinct")],
    ids=lambda promise: promise.title(),
)
def test_a_promise_that_asks_for_nothing_says_so(promise):
    assert nonsense(f"{promise.title()}. {promise.meaning()}") == []
    assert ("asks for nothing" in promise.meaning()) == ("not asked for" in promise.title())


def test_one_of_something_is_one():
    assert [counted(number, "person", "people") for number in (0, 1, 2)] == ["0 people", "1 person", "2 people"]
    assert counted(1.0, "row") == "1 row"
    assert uc.KAnonymity(k=1, per="patient").title() == "k-anonymity, not asked for (k = 1) per patient"
