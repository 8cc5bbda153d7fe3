from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

import undercover as uc
from pictures import framed
from undercover.errors import InternalError
from undercover.model.about import about_of
from undercover.model.figures import baseline, cost, risk
from undercover.pages.datasheet import datasheet_summary
from undercover.pages.jinja import environment
from undercover.pages.render import datasheet_html, overview_html, report_html
from undercover.verbs.report import summarize

pytestmark = pytest.mark.usefixtures("all_drawn", "unjudged")

NAMESPACES = ("http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink")
NASTY = '<script>alert("x")</script>'
LIMIT = 500_000


@pytest.fixture
def frames():
    """Pictures are counted or not looked at, so they need not be drawn."""
    with framed():
        yield


class Page(HTMLParser):
    """Tags, figures with their exact value, and the text of a page."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.figures: list[tuple[str, str]] = []
        self.text = ""
        self._value: str | None = None
        self.feed(source)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._value = dict(attrs).get("value") if tag == "data" else None

    def handle_data(self, data):
        self.text += data
        if self._value is not None:
            self.figures.append((self._value, data))
            self._value = None


def numbers_in(value):
    if isinstance(value, dict):
        return {number for item in value.values() for number in numbers_in(item)}
    if isinstance(value, list | tuple):
        return {number for item in value for number in numbers_in(item)}
    return {repr(value)} if isinstance(value, int | float) and not isinstance(value, bool) else set()


def unknown_figures(page: str, summary) -> set[str]:
    """Figures of a page that are not in the dict it was made from."""
    return {value for value, _ in Page(page).figures} - numbers_in(summary) - {"0.0"}


def outside_references(page: str) -> list[str]:
    """Whatever a browser would fetch, run or follow out of the page; its own script does nothing of it."""
    for namespace in NAMESPACES:
        page = page.replace(f'="{namespace}"', "")
    page = page.replace(f"<script>{environment().globals['script']}</script>", "", 1)
    found = re.findall(r"(?:https?:)?//[\w.]+|@import|url\((?!#)|javascript:", page)
    for tag, attributes in Page(page).tags:
        if tag in ("script", "link", "iframe", "img", "object", "base") or "src" in attributes:
            found.append(tag)
    return found


@pytest.fixture(scope="module")
def pages(make_run, make_anatomy, summary_of):
    """Every kind of page."""
    run, anatomy = make_run(), make_anatomy()
    entries = [
        {"summary": summary_of(run), "report": "a/private/report.html", "datasheet": "a/public/datasheet.html"},
        {"summary": summary_of(anatomy), "title": "The other"},
    ]
    return {
        "report": (report_html(summary_of(run)), summary_of(run)),
        "report of two tables": (report_html(summary_of(anatomy)), summary_of(anatomy)),
        "datasheet": (datasheet_html(datasheet_summary(run.release)), datasheet_summary(run.release)),
        "datasheet of two tables": (
            datasheet_html(datasheet_summary(anatomy.release)),
            datasheet_summary(anatomy.release),
        ),
        "overview": (overview_html(entries, about="Some people."), entries),
    }


def test_pages_are_small_and_stand_alone(pages):
    for name, (page, _) in pages.items():
        assert outside_references(page) == [], name
        assert len(page.encode()) < LIMIT, name
        assert page.startswith("<!DOCTYPE html>"), name


def test_a_page_lets_run_its_own_script_alone_and_fetches_nothing(pages):
    script = str(environment().globals["script"])
    assert not re.search(r"eval|innerHTML|Function\(|fetch|XMLHttp|https?:|\{\{|\{%|</script", script)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    for name, (page, _) in pages.items():
        (policy,) = re.findall(r'Content-Security-Policy" content="([^"]+)"', page)
        assert policy.startswith("default-src 'none'; "), name
        assert f"script-src 'sha256-{digest}';" in policy, name
        assert not any(attribute.startswith("on") for _, found in Page(page).tags for attribute in found), name


@pytest.mark.parametrize(
    "fault",
    ['<img src="a.png">', '<a href="https://example.org">', "<script>1</script>", "<style>@import 'a'</style>"],
)
def test_the_search_for_outside_references_finds_one(pages, fault):
    page, _ = pages["report"]
    assert outside_references(page.replace("</main>", f"{fault}</main>"))


def test_every_figure_of_a_page_is_in_the_dict(pages):
    for name, (page, summary) in pages.items():
        assert unknown_figures(page, summary) == set(), name
        assert Page(page).figures, name


def test_the_comparison_of_figures_finds_a_wrong_one(pages):
    page, summary = pages["report"]
    assert unknown_figures(page.replace('<data value="405">', '<data value="406">'), summary) == {"406"}


def test_the_contents_lead_to_every_section(pages):
    for name in ("report", "report of two tables"):
        tags = Page(pages[name][0]).tags
        leading = [str(attributes["href"])[1:] for tag, attributes in tags if tag == "a"]
        sections = [attributes["id"] for tag, attributes in tags if tag == "section" and "id" in attributes]
        assert leading == sections
        assert leading[:3] == ["asked", "done", "samples"]


def test_the_overview_says_what_methods_are_and_leaves_out_promises_that_ask_for_nothing(make_run, summary_of):
    summary = summary_of(make_run(), attacks=False, measures=False)
    about = about_of("mondrian")
    text = Page(overview_html([{"summary": summary}])).text
    assert about.idea in text
    assert about.when in text
    assert "10-anonymity" in text
    (promise,) = summary["holds"]["findings"]
    nothing = {**promise, "required": 1, "title": "1-anonymity", "words": uc.KAnonymity(k=1).meaning()}
    text = Page(overview_html([{"summary": {**summary, "holds": {"findings": [promise, nothing]}}}])).text
    assert "10-anonymity" in text
    assert not re.search(r"(?<!\d)1-anonymity", text)
    assert "asks for nothing" in nothing["words"]


def test_folds_are_open_on_paper_and_wide_tables_scroll(pages):
    page, _ = pages["report"]
    style = page[page.index("<style>") : page.index("</style>")]
    assert "::details-content" in style[style.index("@media print") :]
    assert page.count("<table>") - page.count('<div class="wide"><table>') == 0


def test_figures_are_shown_on_the_safe_side(pages, linkage):
    figures = dict(Page(pages["report"][0]).figures)
    attack = linkage(("income",))
    worst = attack["after"]["attribute"]["income"]["max"]
    assert figures[repr(worst)] == risk(worst) == "70%"
    guess = attack["baseline"]["attribute"]["income"]["guess_success"]
    assert figures[repr(guess)] == baseline(guess) == "9.8%"
    assert figures["405"] == "405"


def test_report_shows_what_it_should(pages):
    page, summary = pages["report"]
    text = Page(page).text
    for heading in ("What was asked", "What was done", "What holds", "What an attacker gets", "What it cost"):
        assert heading in text
    for limit in summary["limits"]:
        assert limit in text
    assert "10-anonymity" in text
    assert "shoe size (no role)" in text
    assert cost(summary["cost"]["loss"]["arx"]["arithmetic"]) in text
    # class sizes, matches, probability of the value, loss, distributions, associations, query error
    assert page.count('class="chart broad"') == 7
    assert summary["again"]["command"] in text
    for stage in summary["done"]["stages"]:
        assert stage["text"] in text


@pytest.mark.usefixtures("frames")
def test_report_and_datasheet_say_which_columns_each_promise_speaks_of():
    schema = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="income", insensitive=["education"])
    people = uc.datasets.census(300, seed=3)
    both, k_alone = (uc.publish(people, schema, uc.Mondrian(k=5, **more)) for more in ({"l": 2}, {}))
    for run, spoken, unspoken in ((both, "age, sex, income", "education"), (k_alone, "age, sex", "income, education")):
        pages = (report_html(summarize(run)), datasheet_html(datasheet_summary(run.release)))
        for text in (" ".join(Page(page).text.split()) for page in pages):
            assert "Speaks of age, sex." in text
            assert f"Speaks of {spoken}." in text
            assert f"No promise speaks of {unspoken}: what stands there is protected by none." in text
    before = replace(both.release, guarantees=[{**each, "columns": []} for each in both.release.guarantees])
    text = Page(datasheet_html(datasheet_summary(before))).text  # one that was written before columns were recorded
    assert "peaks of" not in text


def test_story_of_the_attack_is_escaped_and_its_code_marked(pages):
    page, _ = pages["report"]
    assert "&lt;b&gt;looks&lt;/b&gt;" in page
    assert "<code>age</code>" in page


def test_overview_links_to_the_releases(pages):
    links = [attributes.get("href") for tag, attributes in Page(pages["overview"][0]).tags if tag == "a"]
    assert links == ["a/private/report.html", "a/public/datasheet.html"]
    assert "The other" in pages["overview"][0]


def test_ids_are_unique_on_a_page(pages):
    for name, (page, _) in pages.items():
        ids = [attributes["id"] for _, attributes in Page(page).tags if "id" in attributes]
        assert len(ids) == len(set(ids)), name


def test_nothing_private_reaches_the_datasheet(make_run, summary_of, secrets, secret_seed):
    run = make_run(seed=secret_seed)
    page = datasheet_html(datasheet_summary(run.release))
    assert [what for what, secret in secrets.items() if secret in page] == []
    # The same search finds them all in the private report, which names the columns but no person.
    report = report_html(summary_of(run))
    assert [what for what, secret in secrets.items() if secret not in report] == ["name"]


def test_pages_refuse_the_summary_of_the_other(make_run, summary_of):
    run = make_run()
    with pytest.raises(InternalError, match="public"):
        datasheet_html(summary_of(run))
    with pytest.raises(InternalError, match="private"):
        report_html(datasheet_summary(run.release))


@pytest.mark.parametrize("nasty", [NASTY, "a`b", "x' onload='y", "100% & {{ 7 * 7 }}", "]]>"])
def test_nasty_names_are_escaped(make_run, summary_of, nasty):
    run = make_run(rename={"age": nasty, "income": nasty + "2"})
    summary = summary_of(run)
    for page in (
        report_html(summary),
        datasheet_html(datasheet_summary(run.release)),
        overview_html([{"summary": summary, "title": nasty}]),
    ):
        found = Page(page)
        assert [tag for tag, _ in found.tags].count("script") == 1
        assert not any("onload" in attributes for _, attributes in found.tags)
        assert "49" not in re.findall(r"100% & (\d+)", found.text)
        assert nasty.replace("`", "") in found.text.replace("`", "")


@pytest.mark.usefixtures("frames")
@pytest.mark.parametrize("sensitive", [(), ("income",), ("income", "occupation")])
@pytest.mark.parametrize("attacks", [True, False])
def test_any_number_of_sensitive_columns_with_and_without_attack(make_run, summary_of, sensitive, attacks):
    run = make_run(sensitive=sensitive)
    summary = summary_of(run, attacks=attacks)
    page = report_html(summary)
    assert ("No attack was made" in page) is not attacks
    # class sizes, loss, distributions, associations; where a sensitive value can be asked for, query error
    assert page.count('class="chart"') == 4 + bool(sensitive) + attacks * (1 + len(sensitive))
    assert datasheet_html(datasheet_summary(run.release))
    assert overview_html([{"summary": summary}])


@pytest.mark.usefixtures("frames")
def test_report_without_the_original(make_run, summary_of):
    page = report_html(summary_of(make_run(), attacks=False, measures=False))
    assert "Not measured" in page


@pytest.mark.usefixtures("frames")
def test_another_attack_is_shown_by_its_story(make_run, summary_of):
    page = report_html(summary_of(make_run(), {"attack": "collusion", "story": "The attacker knows `others`."}))
    assert "<h3>collusion</h3>" in page
    assert "The attacker knows <code>others</code>." in page


def test_failed_verification_is_loud(make_run):
    from undercover.guarantees.k_anonymity import KAnonymity
    from undercover.guarantees.verify import verify
    from undercover.pages.summary import summarize

    run = make_run()
    verification = verify(run.release, [KAnonymity(k=11)], problems=["`table.csv` was changed."])
    page = report_html(summarize(run, verification=verification))
    assert '<div class="big">Fails</div>' in page
    assert "<code>table.csv</code> was changed." in page
    assert "classes with" in page


@pytest.mark.parametrize(
    "method",
    [
        uc.Mondrian(k=5, l=2),
        uc.Anatomy(l=3),
        uc.Streamliner(l=3),
        uc.MutualCover(variant="paper", delta="1/3", l=3),
        uc.CrossBucket(k=3, l=3),
        uc.PerturbedGeneralization(k=4, p=0.4),
        uc.Incognito(k=5),
        uc.NonCentralized(l=2),
    ],
    ids=lambda method: method.name,
)
def test_every_figure_of_a_written_report_is_in_the_json_beside_it(method, tmp_path):
    schema = uc.datasets.census_schema(["age", "sex", "education"])
    private = uc.save(uc.publish(uc.datasets.census(400), schema, method), tmp_path / "out") / "private"
    page = (private / "report.html").read_text("utf-8")
    facts = json.loads((private / "report.json").read_text("utf-8"))
    assert unknown_figures(page, facts) == set()
    assert len(Page(page).figures) > 100
    assert len(page.encode()) < LIMIT
    assert outside_references(page.replace(facts["again"]["spec"], "")) == []
    drawn = re.findall(r'<svg [^>]*class="chart narrow" viewBox="0 0 ([\d.]+) .*?</svg>', page, re.DOTALL)
    assert len(drawn) == page.count('class="chart broad"')
    assert max(map(float, drawn)) <= 358  # what a phone of 390 pixels leaves between the margins
