"""The sentences of report and datasheet: what a method did, what a promise means, what it does not cover.

Everything here is said from public facts alone (a :class:`~undercover.model.release.Release` or the name and
parameters of a promise), so the same words serve the holder and the recipient.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from undercover.forms import read
from undercover.forms.drawn import words as cover_wording
from undercover.forms.perturbed import words as perturbed_wording
from undercover.guarantees.finding import Sense, shown
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

_AT_MOST = (
    "t-closeness",
    "delta-disclosure",
    "delta-probability",
    "values-of-the-original",
    "beta-likeness",
    "rho-breach",
    "delta-growth",
    "disjoint-cells",
    "cell-sizes",
    "values-declared",
    "sensitive-values-preserved",
    "quasi-identifiers-preserved",
)


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
    >>> promise_title("k-anonymity", {"k": 5})
    '5-anonymity'
    """
    column = f" of {parameters['column']}" if parameters.get("column") else ""
    special = perturbed_wording.promise_title(name, parameters) or full_domain_wording.promise_title(name, parameters)
    if special is not None:
        return special
    if name == "k-anonymity":
        return f"{parameters.get('k', 'k')}-anonymity"
    if name == "kl-anonymity":
        return f"({parameters.get('k', 'k')}, {parameters.get('l', 'l')})-anonymity{column}"
    if name == "l-diversity":
        constant = f", c = {parameters['c']}" if parameters.get("c") is not None else ""
        return f"{parameters.get('l', 'l')}-diversity ({parameters.get('form', 'frequency')}{constant}){column}"
    if name == "t-closeness":
        return f"{parameters.get('t', 't')}-closeness ({parameters.get('distance', 'equal')} distance){column}"
    if name == "delta-probability":
        return f"δ-probability, δ = {parameters.get('delta')}"
    if name == "delta-disclosure":
        return f"δ-disclosure privacy, δ = {parameters.get('delta')}{column}"
    if name == "beta-likeness":
        kind = "Enhanced β-likeness" if parameters.get("enhanced") else "β-likeness"
        return f"{kind}, β = {parameters.get('beta')}{column}"
    return name.replace("-", " ").capitalize() + column


def promise_words(name: str, parameters: Mapping[str, Any]) -> str:
    """What a promise means for the people in the table.

    >>> promise_words("k-anonymity", {"k": 5})
    'Everybody shares all published quasi-identifier cells with at least 4 other rows.'
    """
    special = perturbed_wording.promise_words(name, parameters) or full_domain_wording.promise_words(name, parameters)
    if special is not None:
        return special
    column = f"value of {parameters['column']}" if parameters.get("column") else "sensitive value"
    number = parameters.get(name[0]) if name in ("k-anonymity", "l-diversity", "t-closeness") else None
    if name == "k-anonymity" and isinstance(number, int):
        return f"Everybody shares all published quasi-identifier cells with at least {number - 1:,} other rows."
    if name == "kl-anonymity":
        return (
            f"Whoever knows a person's quasi-identifiers finds at least {parameters.get('k')} rows that fit, and gives "
            f"no {column} more than 1/{parameters.get('l')}: every row that fits counts with the values of its bucket."
        )
    if name == "l-diversity":
        return {
            "frequency": f"No {column} makes up more than 1/{number} of a class or bucket: whoever finds a person's "
            f"class guesses right with probability 1/{number} at most.",
            "distinct": f"Every class or bucket holds at least {number} different sensitive values.",
            "entropy": f"The values of every class are spread at least as evenly as {number} equally frequent ones.",
            "recursive": f"In every class the most frequent value occurs less than {parameters.get('c')} times as "
            f"often as the {number}-th most frequent and all rarer values together.",
        }.get(str(parameters.get("form", "frequency")), "")
    if name == "t-closeness":
        return (
            "The sensitive values of every class are spread almost as in the whole table: the two distributions are "
            f"at most {number} apart (0: alike, 1: nothing in common)."
        )
    if name == "delta-probability":
        return cover_wording.PROMISE
    if name == "delta-disclosure":
        return (
            f"No class makes any {column} more or less likely than the whole table does, beyond a factor of "
            f"e to the power of {parameters.get('delta')}."
        )
    if name == "beta-likeness":
        return (
            f"No {column} is more frequent in a class than in the whole table by more than {parameters.get('beta')} "
            "times its share there."
        )
    return {
        "rows-preserved": "Every row of the input is in the release, apart from those suppressed.",
        "sensitive-values-preserved": f"No {column} was added, lost or changed.",
        "quasi-identifiers-preserved": "The quasi-identifiers are those of the input, as often.",
        "values-of-the-original": "Every published quasi-identifier is a value of its column in the input.",
        "rows-covered": "Every row of the input finds a published row that covers it.",
    }.get(name, "")


def sense_of(name: str) -> Sense:
    """Whether a promise asks for at least or at most its number.

    >>> sense_of("t-closeness"), sense_of("k-anonymity")
    ('at most', 'at least')
    """
    return "at most" if name in _AT_MOST else "at least"


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
    promised = {str(entry.get("name")) for entry in release.guarantees}
    said = []
    has_sensitive = any(table.names("sensitive") for table in release.tables) or not release.tables
    if has_sensitive and not promised & {
        "l-diversity",
        "joint-diversity",
        "kl-anonymity",
        "t-closeness",
        "delta-disclosure",
        "beta-likeness",
    }:
        said.append(
            "Nothing is promised about sensitive values: everybody in a class may have the same one, and whoever finds "
            "the class then knows it."
        )
    if promised & {"l-diversity", "joint-diversity", "kl-anonymity"} and not promised & {
        "t-closeness",
        "delta-disclosure",
        "beta-likeness",
    }:
        said.append(
            "Different values can mean nearly the same (two stages of one disease, two close incomes), and a value "
            "that is rare overall can be frequent in a class. Diversity does not see either."
        )
    if not promised & {"k-anonymity", "kl-anonymity"}:
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
        if "kl-anonymity" in promised:
            said.append(
                "The buckets of a group are small, because its rows cannot be told apart. Whoever tells them apart by "
                "an unchanged column knows the bucket, and with it the value with more than is promised."
            )
    if not release.algorithm_safe:
        said.append(
            "The release is not algorithm-safe: somebody who knows the algorithm and everybody's quasi-identifiers can "
            "sometimes infer more than the published tables show."
        )
    said += [
        "The promises assume an attacker who knows the quasi-identifiers. Somebody who already knows sensitive values "
        "of other people in a class can rule those out and is left with fewer candidates.",
        *(
            full_domain_wording.limits(release)
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
