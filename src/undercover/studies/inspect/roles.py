"""Which role a column should probably play, and why, in one sentence.

Three kinds of evidence, the strongest first: what the values look like where that leaves no doubt (a column of e-mail
addresses is one, whatever its name; :mod:`undercover.studies.inspect.looks`), what the name says
(:mod:`undercover.studies.inspect.vocabulary`), the words and ranges of the values, and how many there are. What the
other columns say comes last (:mod:`undercover.studies.inspect.neighbours`). A suggestion is where to start: who may
know what about whom is for the holder to say. Where nothing speaks, the suggestion is no role, because a column without
a role is not published.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from undercover.model.schema import INSENSITIVE, Kind
from undercover.studies.inspect.looks import is_moment, is_rank, is_whole_name, key_of, look_of
from undercover.studies.inspect.vocabulary import COUNT_WORDS, Rule, SuggestedRole, meanings_of, words_of

# Below this many rows cardinality says nothing: in a table of ten, every age is unique.
FEW_ROWS = 20

TAILS: dict[SuggestedRole, str] = {
    "identifier": "it points at the person",
    "quasi-identifier": "others may know it",
    "sensitive": "nobody should learn it from the release",
    "insensitive": INSENSITIVE,
    "none": "it is no property of a person; a rare value can still point at one",
}


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
    numbers: Sequence[float] = ()  # some of the distinct values; empty unless the column is numbers


@dataclass(frozen=True)
class Suggestion:
    """A role and the reason for it."""

    role: SuggestedRole
    reason: str
    categories: bool = False  # the numbers of the column are names of categories
    person: bool = False  # a repeated value is the same person again
    topic: str = ""  # what the column speaks of: health, money, offences, judgements
    asked: bool = False  # nothing says what it is, so the holder is asked


def suggest(evidence: Evidence) -> Suggestion:
    """The role a column should probably play."""
    present = evidence.rows - evidence.missing
    if present == 0:
        return Suggestion("none", "Every value is missing.")
    if evidence.distinct == 1 and evidence.missing == 0 and evidence.rows > 1:
        return Suggestion("none", "The same value throughout: it tells nothing about anybody.")
    key = key_of(evidence.sample)
    if key is not None:
        return Suggestion("identifier", f"The values look like {key.meaning}.", person=key.person)
    return _by_name(evidence, present) or _by_looks(evidence, present) or _by_cardinality(evidence, present)


def _by_name(evidence: Evidence, present: int) -> Suggestion | None:
    if is_rank(evidence.sample):
        return Suggestion("quasi-identifier", f"The values look like ranks: {TAILS['quasi-identifier']}.")
    nothing: tuple[None, SuggestedRole] = (None, "none")
    rule, role = next(_meanings(evidence, present), nothing)
    event = evidence.kind == "date" or is_moment(evidence.sample) or _are_days(evidence)
    if event and role in ("none", "sensitive"):
        return Suggestion("quasi-identifier", "A date or time: when something happened is often known.")
    if rule is None:
        return None
    counted = words_of(evidence.name) & COUNT_WORDS
    numbers_name_things = rule.codes and not counted and evidence.whole_numbers and evidence.distinct <= 2000
    said = f"The name speaks of {rule.meaning}: {TAILS[role]}."
    return Suggestion(role, said, numbers_name_things, rule.person and role == "identifier", rule.topic)


def _meanings(evidence: Evidence, present: int) -> Iterator[tuple[Rule, SuggestedRole]]:
    """The rules that fit the name, with the role each gives to values like these."""
    few, story = _is_code_list(evidence, present), _is_free_text(evidence, present)
    numbered = evidence.whole_numbers and evidence.distinct == present and evidence.rows >= FEW_ROWS
    for rule in meanings_of(evidence.name):
        if rule.meaning.startswith("a part") and not evidence.sample:
            continue
        if few and rule.role == "identifier" and not rule.meaning.startswith("a part"):
            # A handful of values shared by everybody is no key, whatever the column is called.
            if rule.meaning == "a person's name" and is_whole_name(evidence.sample):
                yield rule, "identifier"
            elif rule.if_few != "none":
                yield rule, rule.if_few
        elif not (story and rule.role != "identifier") and not (numbered and rule.meaning.startswith("bookkeeping")):
            yield rule, rule.role


def _by_looks(evidence: Evidence, present: int) -> Suggestion | None:
    """By the words and ranges of the values, where the name says nothing."""
    if _is_free_text(evidence, present):
        return None
    look = look_of(evidence.sample)
    if look is not None:
        role = look.role
        if role == "identifier" and look.meaning == "addresses" and _is_code_list(evidence, present):
            role = "quasi-identifier"
        return Suggestion(role, f"The values look like {look.meaning}: {TAILS[role]}.")
    low, high = min(evidence.numbers, default=0), max(evidence.numbers, default=0)
    if evidence.whole_numbers and 1880 <= low <= high <= 2040 and evidence.distinct >= 15:
        return Suggestion("quasi-identifier", "The values look like years: when something happened is often known.")
    return None


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
        return Suggestion(
            "none", "A number that is different in (nearly) every row would single people out.", asked=True
        )
    categories = bool(code_words) and whole and evidence.distinct <= 2000
    said = "Neither its name nor its values say what it is; without a role it is not published."
    return Suggestion("none", said, categories, asked=True)


def _are_days(evidence: Evidence) -> bool:
    """Whether numbers are days, written as 20240131."""
    return evidence.whole_numbers and is_moment([f"{number:.0f}" for number in evidence.numbers if number > 9999])


def _is_code_list(evidence: Evidence, present: int) -> bool:
    return evidence.rows >= FEW_ROWS and evidence.distinct <= min(100, 0.05 * present)


def _is_free_text(evidence: Evidence, present: int) -> bool:
    many = evidence.rows >= FEW_ROWS and evidence.distinct >= 0.5 * present
    return many and _mean_length(evidence.sample) > 40


def _mean_length(sample: Sequence[str]) -> float:
    return sum(map(len, sample)) / len(sample) if sample else 0.0
