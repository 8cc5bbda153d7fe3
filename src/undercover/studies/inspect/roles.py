"""Which role a column should probably play, and why, in one sentence.

Three kinds of evidence, the strongest first: what the values look like (a column of e-mail addresses is one, whatever
its name), what the name says (:mod:`undercover.studies.inspect.vocabulary`), and how many values there are. A
suggestion is where to start: who may know what about whom is for the holder to say. Where nothing speaks, the
suggestion is no role, because a column without a role is not published.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from undercover.model.schema import Kind
from undercover.studies.inspect.vocabulary import COUNT_WORDS, SuggestedRole, meanings_of, words_of

# Below this many rows cardinality says nothing: in a table of ten, every age is unique.
FEW_ROWS = 20

_PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("e-mail addresses", re.compile(r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}")),
    ("web addresses", re.compile(r"(https?://|www\.)\S+", re.IGNORECASE)),
    ("IP addresses", re.compile(r"(\d{1,3}\.){3}\d{1,3}|([0-9A-Fa-f]{0,4}:){3,7}[0-9A-Fa-f]{0,4}")),
    ("universal identifiers", re.compile(r"\{?[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\}?")),
    ("account numbers (IBAN)", re.compile(r"[A-Z]{2}\d{2}( ?[A-Z0-9]{4}){2,7}( ?[A-Z0-9]{1,4})?")),
    ("social security numbers", re.compile(r"\d{3}-\d{2}-\d{4}")),
    (
        "telephone numbers",
        re.compile(r"(\+|00)\d[\d /().-]{6,}\d|\(?0\d{1,5}\)?[ /-]\d[\d -]{3,}\d|(\(\d{3}\) ?|\d{3}-)\d{3}-\d{4}"),
    ),
)
_LOCAL_DATE = re.compile(r"\d{1,2}[./-]\d{1,2}[./-](\d{4}|\d{2})")


@dataclass(frozen=True)
class Evidence:
    """What is known of a column when its role is guessed."""

    name: str
    kind: Kind
    rows: int
    distinct: int
    missing: int
    whole_numbers: bool
    sample: Sequence[str]  # some of the distinct values as text; empty unless the column is text


@dataclass(frozen=True)
class Suggestion:
    """A role and the reason for it."""

    role: SuggestedRole
    reason: str
    categories: bool = False  # the numbers of the column are names of categories
    person: bool = False  # a repeated value is the same person again


def suggest(evidence: Evidence) -> Suggestion:
    """The role a column should probably play."""
    present = evidence.rows - evidence.missing
    if present == 0:
        return Suggestion("none", "Every value is missing.")
    if evidence.distinct == 1 and evidence.missing == 0 and evidence.rows > 1:
        return Suggestion("none", "The same value throughout: it tells nothing about anybody.")
    looks = _looks_like(evidence.sample)
    if looks is not None:
        return Suggestion("identifier", f"The values look like {looks}.", person=True)
    return _by_name(evidence, present) or _by_cardinality(evidence, present)


def is_local_date(sample: Sequence[str]) -> bool:
    """Whether values are dates as people write them, which are not read as dates."""
    return _mostly(sample, _LOCAL_DATE)


def _by_name(evidence: Evidence, present: int) -> Suggestion | None:
    rules = meanings_of(evidence.name)
    if _is_code_list(evidence, present):
        # A handful of values shared by everybody is no key, whatever the column is called.
        rules = (rule for rule in rules if rule.role != "identifier" or rule.meaning.startswith("a part"))
    if _is_free_text(evidence, present):
        rules = (rule for rule in rules if rule.role == "identifier")
    rule = next(rules, None)
    event = evidence.kind == "date" or is_local_date(evidence.sample)
    if event and (rule is None or rule.role in ("none", "sensitive")):
        return Suggestion("quasi-identifier", "A date: when something happened is often known.")
    if rule is None:
        return None
    counted = words_of(evidence.name) & COUNT_WORDS
    numbers_name_things = rule.codes and not counted and evidence.whole_numbers and evidence.distinct <= 2000
    tail = {
        "identifier": "it points at the person",
        "quasi-identifier": "others may know it",
        "sensitive": "nobody should learn it from the release",
        "insensitive": "it is harmless",
        "none": "it is no property of a person; a rare value can still point at one",
    }[rule.role]
    return Suggestion(rule.role, f"The name speaks of {rule.meaning}: {tail}.", numbers_name_things, rule.person)


def _by_cardinality(evidence: Evidence, present: int) -> Suggestion:
    words = words_of(evidence.name)
    code_words = words & {"id", "code", "type", "flag", "typ", "nr", "key"}
    many = evidence.rows >= FEW_ROWS and evidence.distinct >= 0.5 * present
    text = evidence.kind == "categorical" and not evidence.whole_numbers
    whole = evidence.whole_numbers
    if many and (code_words or (whole and evidence.distinct == present)):
        return Suggestion("identifier", "(Nearly) every row has its own number or code: a key.", person=True)
    if _is_free_text(evidence, present):
        return Suggestion("identifier", "Free text, different in (nearly) every row: it can hold names and stories.")
    if many and text:
        return Suggestion("identifier", "(Nearly) every row has its own value.")
    if many:
        return Suggestion("none", "A number that is different in (nearly) every row would single people out.")
    categories = bool(code_words) and whole and evidence.distinct <= 2000
    return Suggestion(
        "none", "Neither its name nor its values say what it is; without a role it is not published.", categories
    )


def _is_code_list(evidence: Evidence, present: int) -> bool:
    return evidence.rows >= FEW_ROWS and evidence.distinct <= min(100, 0.05 * present)


def _is_free_text(evidence: Evidence, present: int) -> bool:
    many = evidence.rows >= FEW_ROWS and evidence.distinct >= 0.5 * present
    return many and _mean_length(evidence.sample) > 40


def _looks_like(sample: Sequence[str]) -> str | None:
    return next((what for what, pattern in _PATTERNS if _mostly(sample, pattern)), None)


def _mostly(sample: Sequence[str], pattern: re.Pattern[str]) -> bool:
    hits = sum(pattern.fullmatch(value.strip()) is not None for value in sample)
    return hits > 0 and hits >= 0.8 * len(sample)


def _mean_length(sample: Sequence[str]) -> float:
    return sum(map(len, sample)) / len(sample) if sample else 0.0
