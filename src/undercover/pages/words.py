"""The sentences of report and datasheet: what a method did, what a promise means, what it does not cover.

Everything here is said from public facts alone (a :class:`~undercover.model.release.Release` or the name and
parameters of a promise), so the same words serve the holder and the recipient.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from undercover import plugins
from undercover.errors import InputError
from undercover.forms import read
from undercover.forms.drawn import words as cover_wording
from undercover.forms.perturbed import words as perturbed_wording
from undercover.guarantees.checking import Checkable, Limited, Topic, of_column, value_of
from undercover.guarantees.requirements import FOUND, guarantee_from_mapping
from undercover.model.finding import Sense, shown
from undercover.model.protocols import Cover
from undercover.model.release import Release
from undercover.pages import full_domain_wording

_TITLES = {
    "mondrian": "Mondrian",
    "anatomy": "Anatomy",
    "incognito": "Incognito",
    "mutual-cover": "Mutual cover",
    "perturbed-generalization": "Perturbed generalization",
    "streamliner": "Privacy streamliner",
    "noncentralized": "Non-centralized l-diversity",
    "cross-bucket": "Cross-bucket generalization",
}

_DONE = {
    "mondrian": "The table was cut in two along one quasi-identifier after another for as long as both halves kept the "
    "promise. The rows of a final piece form a class: they all show the same quasi-identifier cells, which cover "
    "everybody in the class. Sensitive values were not changed.",
    "anatomy": "The rows were dealt at random into buckets in which the sensitive values differ. One table shows the "
    "quasi-identifiers as they are with the number of the bucket, the other how often each sensitive value occurs in "
    "each bucket. Which value of a bucket belongs to which person is not published.",
    "cross-bucket": "Rows that lie close together and differ in their sensitive values were taken together and divided "
    "twice: into equivalence groups, whose rows show the same quasi-identifier cells, and across these groups into "
    "buckets. One table shows the cells of every row with the number of its bucket, the other how often each sensitive "
    "value occurs in each bucket. Which value of a bucket belongs to which row is not published.",
    "perturbed-generalization": perturbed_wording.DONE,
    "streamliner": "The rows were put into groups in which the sensitive values differ. The quasi-identifiers of a "
    "group were widened until they are the same for all of its rows.",
}

# What a method adds depending on its algorithm.
_ALGORITHMS = {
    ("streamliner", "wrap"): "Who is with whom was drawn at random, so that groups are as small as they can be.",
    ("streamliner", "guided"): "Groups keep within strata that were fixed beforehand; within them near rows were "
    "joined in a way that does not depend on which sensitive value is whose.",
    ("streamliner", "rda"): "Who is with whom was drawn at random.",
    ("streamliner", "gda"): "Near rows were joined by an algorithm that looks at sensitive values, as its paper says; "
    "somebody who knows it may invert it.",
    ("perturbed-generalization", "free"): perturbed_wording.FREE,
    ("perturbed-generalization", "driven"): perturbed_wording.DRIVEN,
    ("streamliner", "ria"): "Partners were drawn at random and merged. This is a demonstration: the groups are large.",
}

# What a comparison with the original looks at.
_COMPARED = {
    "rows-preserved": "Every row of the input is in the release, apart from those suppressed.",
    "sensitive-values-preserved": "No sensitive value was added, lost or changed.",
    "quasi-identifiers-preserved": "The quasi-identifiers are those of the input, as often.",
    "values-of-the-original": "Every published quasi-identifier is a value of its column in the input.",
    "rows-covered": "Every row of the input finds a published row that covers it.",
    "cell-sizes": "Column G is the number of original rows in every cell.",
    "values-declared": "Every published value is one of the declared domain.",
}


def method_title(name: str) -> str:
    """The method's name as a heading.

    >>> method_title("mondrian"), method_title("my-own-method")
    ('Mondrian', 'My own method')
    """
    return _TITLES.get(name, name.replace("-", " ").capitalize())


def method_words(name: str, parameters: Mapping[str, Any]) -> str:
    """What the method does, in words.

    >>> method_words("anatomy", {"l": 3}).split(".")[0]
    'The rows were dealt at random into buckets in which the sensitive values differ'
    """
    full_domain = full_domain_wording.done(name, parameters)
    if full_domain is not None:
        return full_domain
    variant = parameters.get("algorithm", parameters.get("labels"))
    if name == "mutual-cover":
        return cover_wording.done(parameters)
    done = _DONE.get(name, f"The rows were grouped by the method {method_title(name)}.")
    return " ".join(filter(None, [done, _ALGORITHMS.get((name, str(variant)))]))


def asked_parameters(values: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that had a say: no seed, no form of a promise that was not asked for.

    >>> asked_parameters({"k": 5, "diversity": "frequency", "t": 0.2, "distance": "equal", "seed": 7})
    {'k': 5, 't': 0.2, 'distance': 'equal'}
    """
    needs = {"diversity": "l", "c": "l", "distance": "t"}
    unsaid = ("seed", "allow_unsafe", "used")
    return {
        key: value
        for key, value in values.items()
        if key not in unsaid and value is not None and values.get(needs.get(key, key)) is not None
    }


def release_title(release: Release) -> str:
    """Method and main parameters, as a heading.

    >>> release_title(Release("mondrian", {"k": 5, "l": 3, "cut": "loss"}, (), False))
    'Mondrian, k = 5, l = 3'
    """
    used = release.parameters.get("used", {})
    known = {**release.parameters, **({"p": shown(float(Fraction(used["p"])), "at least")} if "p" in used else {})}
    main = [f"{key} = {known[key]}" for key in ("delta", "k", "l", "t", "p") if known.get(key) is not None]
    return ", ".join([method_title(release.method), *main])


def promise_title(name: str, parameters: Mapping[str, Any]) -> str:
    """A promise by its name in the field and its numbers.

    >>> promise_title("l-diversity", {"l": 3, "form": "frequency"})
    '3-diversity (frequency)'
    >>> promise_title("rows-covered", {})
    'Rows covered'
    """
    promise = _promise(name, parameters)
    return promise.title() if promise else name.replace("-", " ").capitalize() + of_column(parameters.get("column"))


def promise_words(name: str, parameters: Mapping[str, Any]) -> str:
    """What a promise means for the people in the table.

    >>> promise_words("k-anonymity", {"k": 5})
    'Everybody shares all published quasi-identifier cells with at least 4 other rows.'
    """
    promise = _promise(name, parameters)
    if promise:
        return promise.meaning()
    return _COMPARED.get(name, "").replace("sensitive value", value_of(parameters.get("column")))


def sense_of(name: str) -> Sense:
    """Whether a promise asks for at least or at most its number.

    >>> sense_of("t-closeness"), sense_of("k-anonymity")
    ('at most', 'at least')
    """
    found: Sense = plugins.load("guarantees", name).sense if name in plugins.names("guarantees") else "at least"
    return found


def _promise(name: str, parameters: Mapping[str, Any]) -> Checkable | None:
    """The guarantee itself; ``None`` where it is none, or of a package that is not installed here."""
    said = {key: value for key, value in parameters.items() if key not in (*FOUND, "name")}
    try:
        return guarantee_from_mapping({"name": name, **said})
    except InputError:
        return None


def algorithm_words(safe: bool) -> str:
    """What ``algorithm_safe`` means.

    >>> algorithm_words(True).split(":")[0]
    'Knowing how the release was made does not help an attacker'
    """
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
    """What a release does not protect, in plain words.

    >>> found = limits(Release("mondrian", {"k": 5}, (), True, guarantees=({"name": "k-anonymity", "k": 5},)))
    >>> found[0].split(":")[0]
    'Nothing is promised about sensitive values'
    """
    said_by_form = read(release).limits()
    if said_by_form is not None:
        return said_by_form
    promised = [_promise(str(entry.get("name")), entry) for entry in release.guarantees]
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
            f"Published unchanged, as declared: {', '.join(unchanged)}. Whoever knows these of a person can use them "
            "to find the row; no promise covers them."
        )
        said += _own_limits(promised, "unchanged")
    if not release.algorithm_safe:
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
        "The promises are per row: a person with several rows is not covered by them.",
        "What holds for a whole group (people of this age earn more) can be learnt, and is meant to be; it applies to "
        "members of the group whether they are in the table or not.",
    ]
    return said


def _own_limits(promised: Sequence[Checkable | None], about: Topic) -> list[str]:
    limited = [promise for promise in promised if isinstance(promise, Limited)]
    return list(dict.fromkeys(limit for promise in limited for limit in promise.limits(about)))
