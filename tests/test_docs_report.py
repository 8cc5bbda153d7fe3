"""The guide to the report quotes figures that stand in that report."""

import html
import re
from pathlib import Path

import pytest

import undercover as uc
from undercover.pages.render import report_html
from undercover.verbs.report import summarize

GUIDE = Path(__file__).parent.parent / "docs" / "guide" / "report.md"
FIGURE = re.compile(r"(?<![\w.,])(?:\d[\d,.]* %|\d+,\d{3}|0\.\d{3,}|\d{3,})(?!\w)")


@pytest.fixture(scope="module")
def shown() -> str:
    """What the report of the guide's example shows, without markup."""
    names = ["age", "sex", "race", "education", "marital_status"]
    schema = uc.Schema(quasi_identifiers=names, sensitive="income")
    page = report_html(summarize(uc.publish(uc.datasets.census(5000), schema, uc.Mondrian(k=10, l=3))))
    bare = re.sub(r"<style.*?</style>|<script.*?</script>|<svg.*?</svg>|<pre.*?</pre>", " ", page, flags=re.DOTALL)
    return html.unescape(re.sub(r"<[^>]+>", " ", bare))


def figures(text: str) -> list[str]:
    """Percentages, counts and measures that are quoted; round numbers such as 0.5 are not."""
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    return [found.replace(" ", "") for found in FIGURE.findall(prose)]


def missing(text: str, shown: str) -> list[str]:
    """Figures of the text that the report does not show."""
    return [figure for figure in figures(text) if not re.search(rf"(?<![\d.,]){re.escape(figure)}(?![\d%])", shown)]


def test_every_quoted_figure_is_in_the_report(shown: str) -> None:
    text = GUIDE.read_text("utf-8")
    assert len(figures(text)) > 20
    assert missing(text, shown) == []


@pytest.mark.parametrize("planted", ["64.8 %", "2,356", "0.0644", "207"])
def test_a_planted_figure_is_caught(planted: str, shown: str) -> None:
    assert missing(f"Of 5,000 people {planted} were found, {planted}.", shown) == [planted.replace(" ", "")] * 2
