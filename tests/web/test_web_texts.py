"""The catalogue has every word of the pages in both languages; templates have no word, script or style of their own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from string import Formatter

import pytest

from undercover.web.texts import LANGUAGES, Texts, catalogue

WEB = Path(str(files("undercover.web")))
TEMPLATES = sorted((WEB / "templates").glob("*.j2"))
SOURCES = {path.name: path.read_text("utf-8") for path in [*TEMPLATES, *WEB.rglob("*.py")] if "texts" not in path.parts}


def placeholders(text: str) -> set[str]:
    return {str(name) for _, name, _, _ in Formatter().parse(text) if name is not None}


@pytest.mark.parametrize("language", [language for language in LANGUAGES if language != "en"])
def test_languages_say_the_same(language: str) -> None:
    ours, theirs = catalogue("en"), catalogue(language)
    assert sorted(set(ours) ^ set(theirs)) == []
    assert [key for key in ours if placeholders(ours[key]) != placeholders(theirs[key])] == []
    same = [
        key for key, text in ours.items() if text == theirs[key] and len(re.findall(r"(?<!\{)\b[a-z]{2,}", text)) > 2
    ]
    assert same == [], "not translated"


@pytest.mark.parametrize("language", LANGUAGES)
def test_texts_are_sentences(language: str) -> None:
    for key, text in catalogue(language).items():
        assert text.strip() == text, key
        assert bool(text) == bool(catalogue("en")[key]), key
        assert "  " not in text, key
        assert text.count("`") % 2 == 0, key
        assert not re.search(r"<\w|&\w+;", text), f"{key} has markup, which would be shown as it stands"


def test_numbers_and_plurals() -> None:
    plural = {key.rpartition(".")[0] for key in catalogue("en") if key.endswith((".one", ".other"))}
    for language in LANGUAGES:
        found = catalogue(language)
        assert [key for key in plural if f"{key}.one" not in found or f"{key}.other" not in found] == []
    assert Texts("en")("home.tables", n=12345) == "12,345 tables"
    assert Texts("de")("home.tables", n=12345) == "12.345 Tabellen"
    assert Texts("de")("home.tables", n=1) == "1 Tabelle"
    assert Texts("de")("home.tables", n=0) == "0 Tabellen"


WHOLE = re.compile(r"""["'](?:(?<=["'])([a-z_]+\.[\w.]*\w))["']""")
BEGUN = re.compile(r"""["']([a-z_]+\.(?:\w+\.)*)(?=["']\s*~|\{)|["']([a-z_]+\.(?:\w+[._])*\w*[._])["']\s*[~+]""")
ENDED = re.compile(r"""~\s*["'](\.[\w.]+)["']""")


def unused(texts: Mapping[str, str], sources: Mapping[str, str]) -> list[str]:
    """Keys that no source names, wholly or by how they begin or end."""
    text = "\n".join(sources.values())
    whole = set(WHOLE.findall(text))
    begun = tuple({first or second for first, second in BEGUN.findall(text)})
    ended = tuple(set(ENDED.findall(text)))
    found = []
    for key in texts:
        name = key.removesuffix(".one").removesuffix(".other")
        if not ({key, name} & whole or name.startswith(begun) or name.endswith(ended or ("\0",))):
            found.append(key)
    return found


ASKED = re.compile(r"""\bt\(\s*["']([\w.]+)["']\s*[,)]""")


def unknown(texts: Mapping[str, str], sources: Mapping[str, str]) -> list[str]:
    """Keys that are asked for and are not there."""
    return [
        f"{name}: {key}"
        for name, source in sources.items()
        for key in ASKED.findall(source)
        if key not in texts and f"{key}.other" not in texts
    ]


def test_every_text_is_there_and_used() -> None:
    assert unknown(catalogue("en"), SOURCES) == []
    assert unused(catalogue("en"), SOURCES) == []


def test_planted_texts_are_seen() -> None:
    texts = {"a.b": "", "a.c": "", "a.n.one": "", "a.n.other": "", "x.kind.y": "", "z.step": "", "q.r": ""}
    sources = {
        "one": """{{ t("a.b") }} {{ t('a.n', n=1) }} {{ t("x.kind." ~ y) }} {{ t(name ~ ".step") }} {{ t('no.no') }}"""
    }
    assert unused(texts, sources) == ["a.c", "q.r"]
    assert unknown(texts, sources) == ["one: no.no"]


JINJA = re.compile(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}", re.S)
TAG = re.compile(r"<!--.*?-->|<!?/?[a-zA-Z](?:\"[^\"]*\"|'[^']*'|[^>\"'])*>", re.S)
SHOWN = re.compile(r"""\s(?:aria-label|title|placeholder|alt|data-confirm|data-label|label)=(?:"([^"]*)"|'([^']*)')""")
OURS = {"undercover", "UTC", "Python", "TOML"}
"""Names, which are the same in every language."""
NAMED = re.compile(r"\S+://\S*|\b\w+\.(?:json|csv|toml|zip|py)\b")
"""So are addresses and files."""


def worded(template: str) -> list[str]:
    """Words of a template that are not of the catalogue, as text or in an attribute that people are shown."""
    bare = JINJA.sub("\0", template)
    shown = [first or second for tag in TAG.findall(bare) for first, second in SHOWN.findall(tag)]
    english = re.sub(r"<(\w+)[^>]*\blang=\"en\"[^>]*>.*?</\1>", "", bare, flags=re.S)  # sentences of the library
    english = re.sub(r"<(code|pre)\b[^>]*>.*?</\1>", "", english, flags=re.S)
    texts = TAG.sub("\0", english).split("\0")
    said = [NAMED.sub("", text) for text in [*texts, *shown]]
    return [word for text in said for word in re.findall(r"[^\W\d_]{2,}", text) if word not in OURS]


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_no_word_outside_the_catalogue(template: Path) -> None:
    assert worded(template.read_text("utf-8")) == []


def test_a_planted_word_is_seen() -> None:
    planted = (
        '<p title="a > b {{ x }}">{% if a > b %}Hello{% endif %} {{ t("a.b") }}</p><p lang="en">{{ why }} So.</p>'
        "<input placeholder='Name'><b class=\"loud\">undercover</b>"
    )
    assert worded(planted) == ["Hello", "Name"]


FORBIDDEN = {
    "an inline script": r"<script(?![^>]*\ssrc=)",
    "an inline style sheet": r"<style",
    "a handler": r"\son[a-z]+\s*=",
    "a handler of HTMX": r"hx-on|hx-vals\s*=\s*['\"]js:|hx-vars|javascript:",
    "another host": r"""(?:src|href|action|hx-\w+)\s*=\s*["']\s*(?:https?:)?//""",
    "markup that is not escaped": r"\{%\s*autoescape\s+false",
    "a form without its token": r"<form(?![^>]*(?:action=\"/enter\"|method=\"get\"))(?:(?!csrf).)*?</form>",
}


def forbidden(template: str) -> list[str]:
    return [what for what, how in FORBIDDEN.items() if re.search(how, template, re.S | re.I)]


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_nothing_inline_and_nothing_from_elsewhere(template: Path) -> None:
    assert forbidden(template.read_text("utf-8")) == []


def test_what_is_planted_is_seen() -> None:
    planted = {
        "<script>1</script>": "an inline script",
        "<style>p{}</style>": "an inline style sheet",
        '<p onclick="x()">': "a handler",
        "<p hx-on:click='x'>": "a handler of HTMX",
        '<img src="//example.org/a">': "another host",
        "{% autoescape false %}": "markup that is not escaped",
        '<form method="post" action="/a"><button>b</button></form>': "a form without its token",
    }
    assert [forbidden(template) for template in planted] == [[what] for what in planted.values()]
    assert forbidden('<form method="post" action="/a"><input name="csrf"></form><script src="/a.js"></script>') == []


def test_scripts_and_styles_ask_nobody_else() -> None:
    own = [path for path in (WEB / "static").iterdir() if path.suffix in (".js", ".css", ".svg")]
    for path in own:
        text = path.read_text("utf-8").replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?://|@import|\beval\(|new Function|\.innerHTML\s*=", text), path.name
