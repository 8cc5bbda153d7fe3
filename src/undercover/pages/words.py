"""The sentences of report and datasheet: what a promise means, what it does not cover.

Everything here is said from public facts alone (a :class:`~undercover.model.release.Release` or the name and
parameters of a promise), so the same words serve the holder and the recipient.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from undercover import plugins
from undercover.errors import InputError
from undercover.forms import read
from undercover.guarantees.checking import Checkable, Limited, LooksAt, Topic, of_column, value_of
from undercover.guarantees.requirements import FOUND, guarantee_from_mapping
from undercover.model.about import about_of
from undercover.model.finding import Sense
from undercover.model.protocols import Cover, fits
from undercover.model.release import Release
from undercover.model.schema import INSENSITIVE

# What a comparison with the original looks at.
_COMPARED = {
    "rows-preserved": "Every row of the input is in the release, apart from those suppressed.",
    "sensitive-values-preserved": "No sensitive value was added, lost or changed.",
    "quasi-identifiers-preserved": "The quasi-identifiers are those of the input, as often.",
    "values-of-the-original": "Every published quasi-identifier is a value of its column in the input.",
    "column-preserved": "Every value of the column is there as often as in the input.",
    "dealt-as-kept": "Everybody's sensitive value is in the row the run says, and no other value left its group.",
    "rows-covered": "Every row of the input finds a published row that covers it.",
    "cell-sizes": "Column G is the number of original rows in every cell.",
    "values-declared": "Every published value is one of the declared domain.",
}


def asked_parameters(values: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that had a say: no seed, no form of a promise that was not asked for."""
    needs = {"diversity": "l", "c": "l", "distance": "t"}
    unsaid = ("seed", "allow_unsafe", "used")
    return {
        key: value
        for key, value in values.items()
        if key not in unsaid and value is not None and values.get(needs.get(key, key)) is not None
    }


def done_words(release: Release) -> str:
    """What was done, from public facts: by the method, and in how many parts."""
    said, parts = about_of(release.method).did(release), (release.parameters.get("used") or {}).get("parts")
    if not parts:
        return said
    return f"{said} This was done in {parts} parts, into which the table was cut by quasi-identifiers alone."


def release_title(release: Release) -> str:
    """Method and main parameters, as a heading."""
    about = about_of(release.method)
    return ", ".join([about.title, *(f"{name} = {value}" for name, value in about.main(release).items())])


def promise_title(name: str, parameters: Mapping[str, Any]) -> str:
    """A promise by its name in the field and its numbers."""
    promise = _promise(name, parameters)
    return promise.title() if promise else name.replace("-", " ").capitalize() + of_column(parameters.get("column"))


def promise_words(name: str, parameters: Mapping[str, Any]) -> str:
    """What a promise means for the people in the table."""
    promise = _promise(name, parameters)
    if promise:
        return promise.meaning()
    return _COMPARED.get(name, "").replace("sensitive value", value_of(parameters.get("column")))


def sense_of(name: str) -> Sense:
    """Whether a promise asks for at least or at most its number."""
    found: Sense = plugins.load("guarantees", name).sense if name in plugins.names("guarantees") else "at least"
    return found


def looks_at(name: str) -> LooksAt:
    """Whether a promise is about classes, about rows that are written alike, or about both."""
    known = name in plugins.names("guarantees")
    found: LooksAt = getattr(plugins.load("guarantees", name), "looks_at", "classes") if known else "classes"
    return found


def _promise(name: str, parameters: Mapping[str, Any]) -> Checkable | None:
    """The guarantee itself; ``None`` where it is none, or of a package that is not installed here."""
    said = {key: value for key, value in parameters.items() if key not in (*FOUND, "name")}
    try:
        return guarantee_from_mapping({"name": name, **said})
    except InputError:
        return None


def unspoken(release: Release, promises: Sequence[Mapping[str, Any]]) -> list[str]:
    """Published columns that no promise speaks of; none where the promises do not say of what they speak.

    >>> from undercover.model.release import Release
    >>> unspoken(Release("mondrian", {}, (), True), [{"columns": ["age"]}])
    []
    """
    spoken = {name for promise in promises for name in promise["columns"]}
    held = [column for table in release.tables for column in table.columns if column.role != "structure"]
    return [name for name in dict.fromkeys(column.name for column in held) if name not in spoken] if spoken else []


def declared_by(method: str) -> str:
    """Who says how safe a method is, where it is none of ours and nobody here has checked it; else nothing."""
    if method not in plugins.names("methods"):
        return "declared by the maker of the release, not checked here"
    origin = plugins.origin("methods", method)
    return "" if origin == plugins.HOME else f"declared by {origin}, not checked here"


def declaration(method: str) -> str:
    """Who says that a method is safe, and who has checked it.

    >>> declaration("my-own-method")
    'Declared by the maker of the release, not checked here.'
    >>> declaration("mondrian").split(";")[0]
    'Declared by undercover'
    """
    said = declared_by(method)
    if said:
        return f"{said[0].upper()}{said[1:]}."
    return (
        "Declared by undercover; checked by its tests, in which an attacker who knows the method looks at everything "
        "it publishes of a few people. Neither follows from the published tables."
    )


def robustness_words(robust: bool) -> str:
    """What ``corruption_robust`` means."""
    if robust:
        return (
            "Whoever knows the sensitive values of some people learns nothing from them about people of other classes. "
            "Within a class, the values he knows can be struck off."
        )
    return (
        "Whoever knows the sensitive values of some people, his own to begin with, may learn from them about people of "
        "other classes, too, if he knows how the release was made."
    )


CHOSEN_BY_LOOKING = (
    "Method, parameters or draw were chosen after looking at sensitive values. That alone can reveal something: "
    "somebody who knows how it was chosen learns from what was not."
)
"""What a choice by looking means for a recipient."""


def algorithm_words(release: Release) -> str:
    """What ``algorithm_safe`` means, and who says so."""
    declared = declared_by(release.method)
    looked = [CHOSEN_BY_LOOKING] if release.choice.has_looked else []
    safe = release.algorithm_safe
    known = [] if looked and release.has_safe_method else [_knowing_the_algorithm(safe)]
    return " ".join([*([f"This is {declared}."] if declared else []), *looked, *known])


def _knowing_the_algorithm(safe: bool) -> str:
    if safe:
        return (
            "Knowing how the release was made does not help an attacker: even with the algorithm, everybody's "
            "quasi-identifiers and the list of all sensitive values at hand, the published tables are all there is to "
            "learn from."
        )
    return (
        "The promises hold for an attacker who looks at the published tables. The method also looked at sensitive "
        "values when it decided how to group the rows, so somebody who knows the algorithm and everybody's "
        "quasi-identifiers can sometimes infer more from what it did not do (a minimality attack)."
    )


def limits(release: Release) -> list[str]:
    """What a release does not protect, in plain words."""
    own = list(about_of(release.method).limits(release))
    looked = [f"The release is not algorithm-safe. {CHOSEN_BY_LOOKING}"] if release.choice.has_looked else []
    said_by_form = read(release).limits()
    promised = [_promise(str(entry.get("name")), entry) for entry in release.guarantees]
    if said_by_form is not None:
        return [*_own_limits(promised, "draws"), *said_by_form, *looked, *own]
    covered = frozenset[Cover]().union(*(promise.covers() for promise in promised if promise))
    said = []
    has_sensitive = any(table.names("sensitive") for table in release.tables) or not release.tables
    if has_sensitive and "attribute" not in covered:
        said.append(
            "Nothing is promised about sensitive values: everybody in a class may have the same one, and whoever finds "
            "the class then knows it."
        )
    if "attribute" in covered and "distribution" not in covered:
        said.append(
            "Different values can mean nearly the same (two stages of one disease, two close incomes), and a value "
            "that is rare overall can be frequent in a class. Diversity does not see either."
        )
    if "identity" not in covered:
        said.append(
            "It is no secret who is in the table: quasi-identifiers are published so that a person who stands out can "
            "be recognised. What is protected is which sensitive value belongs to whom."
        )
    unchanged = sorted({name for table in release.tables for name in table.names("insensitive")})
    if unchanged:
        said.append(
            f"{INSENSITIVE.capitalize()}: {', '.join(unchanged)}. Whoever knows this of a person can use it to find "
            "the row."
        )
        said += _own_limits(promised, "unchanged")
    said += looked
    if not release.has_safe_method:
        said.append(
            "The release is not algorithm-safe: somebody who knows the algorithm and everybody's quasi-identifiers can "
            "sometimes infer more than the published tables show."
        )
    said += [
        "The promises assume an attacker who knows the quasi-identifiers. Somebody who already knows sensitive values "
        "of other people in a class can rule those out and is left with fewer candidates.",
        *(
            _own_limits(promised, "others")
            or [
                "The promises are about this release alone. A second release about the same people, from here or from "
                "elsewhere, can be joined with it."
            ]
        ),
        _per_whom(release),
        "What holds for a whole group (people of this age earn more) can be learnt, and is meant to be; it applies to "
        "members of the group whether they are in the table or not.",
    ]
    return said + own


def _per_whom(release: Release) -> str:
    """Whether promises are about people who have several rows."""
    units = sorted({str(entry["per"]) for entry in release.guarantees if entry.get("per")})
    if not units:
        return "The promises are per row: a person with several rows is not covered by them."
    return (
        f"Promises per {', '.join(f'`{name}`' for name in units)} count people, the others rows. Several groups of one "
        "person together may tell more than each: what that comes to is attacked, not promised."
    )


def _own_limits(promised: Sequence[Checkable | None], about: Topic) -> list[str]:
    limited = [promise for promise in promised if fits(promise, Limited)]
    return list(dict.fromkeys(limit for promise in limited for limit in promise.limits(about)))
