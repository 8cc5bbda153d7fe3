"""What the other columns say of a column that says nothing by itself.

Four signs: it is a coordinate beside another one; it has the very values that columns of a known meaning have (the
codes 1, 2, 98 of ten illnesses); much of the table speaks of one thing (the results of a medical examination), so this
column may, too; and it runs over the years of a life where no other column is an age.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from undercover.errors import listed
from undercover.studies.inspect.roles import TAILS, Evidence, Suggestion
from undercover.studies.inspect.vocabulary import words_of

# A table speaks of a topic if so many of its columns do, and this share of all.
FEWEST_OF_A_TOPIC = 4
SHARE_OF_A_TOPIC = 0.25
_SIBLING_VALUES = range(3, 13)


def look_around(guesses: Mapping[str, Suggestion], evidence: Mapping[str, Evidence]) -> dict[str, Suggestion]:
    """The suggestions, with those for which nothing spoke made in the light of the others."""
    topics = Counter(guess.topic for guess in guesses.values() if guess.topic)
    topic, columns = max(topics.items(), key=lambda entry: entry[1], default=("", 0))
    spoken_of = columns >= max(FEWEST_OF_A_TOPIC, SHARE_OF_A_TOPIC * len(guesses))
    an_age = any(guess.reason.startswith(("The name speaks of an age", _BIRTH)) for guess in guesses.values())
    found = dict(guesses)
    for name, guess in guesses.items():
        if not guess.asked:
            continue
        known = evidence[name]
        beside = _coordinate_beside(name, known, guesses, evidence)
        alike = _alike(name, guesses, evidence)
        if beside:
            found[name] = Suggestion("identifier", f"Numbers beside `{beside}`: together they are a place on the map.")
        elif alike:
            role, topic_of = guesses[alike[0]].role, guesses[alike[0]].topic
            said = f"It has the same values as {listed(alike, limit=3)}: {TAILS[role]}."
            found[name] = replace(guess, role=role, reason=said, topic=topic_of, asked=False)
        elif spoken_of:
            said = f"The table speaks of {topic} in {columns} columns, so this one may, too: {TAILS['sensitive']}."
            found[name] = replace(guess, role="sensitive", reason=said, asked=False)
        elif not an_age and _spans_a_life(known):
            said = f"The numbers run over the years of a life: if they are ages, {TAILS['quasi-identifier']}."
            found[name] = replace(guess, role="quasi-identifier", reason=said, asked=False)
    return found


_BIRTH = "The name speaks of a date or place of birth"


def _coordinate_beside(
    name: str, known: Evidence, guesses: Mapping[str, Suggestion], evidence: Mapping[str, Evidence]
) -> str:
    """The column that makes a place on the map of this one: latitude beside longitude, x beside y."""
    if not known.numbers:
        return ""
    words = words_of(name)
    for other, guess in guesses.items():
        if other != name and evidence[other].numbers:
            theirs = words_of(other)
            pair = {"x", "y"} <= words ^ theirs and len(words - theirs) <= 3
            degrees = "coordinates" in guess.reason and not known.whole_numbers and max(map(abs, known.numbers)) <= 180
            if pair or (degrees and any(round(number, 3) != number for number in known.numbers)):
                return other
    return ""


def _alike(name: str, guesses: Mapping[str, Suggestion], evidence: Mapping[str, Evidence]) -> list[str]:
    """The columns with the same few values, if most of those whose meaning is known have one risky role."""
    mine = _values(evidence[name])
    if mine is None:
        return []
    others = [other for other in guesses if other != name and _values(evidence[other]) == mine]
    known = [other for other in others if not guesses[other].asked]
    roles = Counter(guesses[other].role for other in known)
    role, columns = max(roles.items(), key=lambda entry: entry[1], default=("none", 0))
    return (
        [other for other in known if guesses[other].role == role] if role != "none" and 2 * columns > len(known) else []
    )


def _values(known: Evidence) -> frozenset[object] | None:
    """A handful of values that are not just the first numbers, which many columns have."""
    values: frozenset[object] = frozenset(known.sample or known.numbers)
    if len(values) != known.distinct or known.distinct not in _SIBLING_VALUES:
        return None
    if known.numbers and max(known.numbers) - min(known.numbers) < 2 * known.distinct:
        return None
    return values


def _spans_a_life(known: Evidence) -> bool:
    if not known.whole_numbers or known.distinct < 45:
        return False
    return 0 <= min(known.numbers) <= 30 and 70 <= max(known.numbers) <= 116
