"""Notebook cards of the attacks: before, after and guessing side by side, and whether anybody is certain.

A card is red where somebody's row or value is certain after the release, green where nobody is found or known with more
than the 20% commonly used as a threshold, and blue in between. Corruption is judged by what was promised; those who
know the algorithm have their cards in :mod:`undercover.pages.algorithm_cards`. Figures are those of ``to_dict()``; no
row is named.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from undercover.attacks import (
    BucketMatchingResult,
    CorruptionResult,
    JointRisk,
    LinkageResult,
)
from undercover.attacks.joint.correlation import CorrelationResult
from undercover.forms.disclosure import AT_RISK
from undercover.methods.mutual_cover.informed import InformedResult
from undercover.pages import algorithm_cards
from undercover.pages.card_parts import (
    AFTER,
    BAD,
    BEFORE,
    GOOD,
    GUESS,
    PLAIN,
    Card,
    Cells,
    Figures,
    baseline,
    card,
    count,
    listed,
    risk,
    sentence,
)

_CERTAIN = 1.0 - 1e-9
_NUMBERS = "`.to_dict()` has the numbers, `.story` says what the attacker knows."
_ROW, _ROW_MEAN = "finds the row, at worst", "finds the row, on average"


def linkage_card(result: LinkageResult) -> str:
    """Finding the row and learning the values: with the original, with the release, by guessing.

    >>> import undercover as uc
    >>> schema = uc.Schema(quasi_identifiers=["age"], sensitive="income")
    >>> run = uc.publish(uc.datasets.census(1000), schema, uc.Mondrian(k=10))
    >>> "Linkage: nobody is certain" in linkage_card(uc.attack(run))
    True
    """
    found = result.to_dict()
    before, after, guess = found["before"], found["after"], found["baseline"]

    def sides(*path: str) -> tuple[Any, Any]:
        return risk(_at(before, path)), risk(_at(after, path))

    rows: list[tuple[str, Cells]] = [
        (_ROW, (*sides("identity", "max"), baseline(guess["identity"]))),
        (_ROW_MEAN, (*sides("identity", "mean"), baseline(guess["identity"]))),
        ("rows found for certain", (*_counts(before, after, "identity", "unique_rows"), None)),
    ]
    for name in after["attribute"]:
        known = guess["attribute"][name]
        rows += [
            (f"sure of `{name}`, at worst", (*sides("attribute", name, "max"), baseline(known["guess_success"]))),
            (f"sure of `{name}`, on average", (*sides("attribute", name, "mean"), baseline(known["mean"]))),
            (
                f"guesses `{name}` right",
                (*sides("attribute", name, "guess_success"), baseline(known["guess_success"])),
            ),
            (f"`{name}` known for certain", (*_counts(before, after, "attribute", name, "certain_rows"), None)),
        ]
    lines: list[tuple[str, Any]] = [
        ("knows", listed(found["known"])),
        ("people", count(found["targets"]).markup()),
    ]
    if "p_match" in found:
        lines.append(("matches on", sentence("each column with probability {}", risk(found["p_match"]))))
    worst = [after["identity"]["max"], *(figures["max"] for figures in after["attribute"].values())]
    return _attack_card(
        "Linkage", Figures((("original", BEFORE), ("release", AFTER), ("guessing", GUESS)), tuple(rows)), lines, worst
    )


def bucket_matching_card(result: BucketMatchingResult) -> str:
    """How sure bucket matching makes him of the sensitive values.

    >>> import undercover as uc
    >>> example = uc.datasets.hospital("cross-bucket")
    >>> run = uc.publish(example.table, example.schema, uc.CrossBucket(k=2, l=4))
    >>> "Bucket matching: nobody is certain" in bucket_matching_card(uc.attack(run, uc.BucketMatching()))
    True
    """
    found = result.to_dict()
    rows: list[tuple[str, Cells]] = []
    for name, breach in found["breach"].items():
        guess = baseline(found["baseline"][name])
        rows += [
            (f"sure of `{name}`, at worst", (risk(breach["max"]), None)),
            (f"sure of `{name}`, on average", (risk(breach["mean"]), guess)),
        ]
    matches, buckets = found["matches"], found["buckets"]
    lines = [
        ("knows", listed(found["known"])),
        ("people", count(found["targets"]).markup()),
        ("rows that fit", sentence("{} on average, {} at least", count(matches["mean"]), count(matches["min"]))),
        ("in buckets", sentence("{} on average, {} at least", count(buckets["mean"]), count(buckets["min"]))),
    ]
    table = Figures((("release", AFTER), ("guessing", GUESS)), tuple(rows))
    return _attack_card("Bucket matching", table, lines, [breach["max"] for breach in found["breach"].values()])


def informed_card(result: InformedResult) -> str:
    """What somebody gets who knows the groups and output tables of mutual cover."""
    found = result.to_dict()
    identity, attribute, guess = found["identity"], found["attribute"], found["baseline"]
    rows: tuple[tuple[str, Cells], ...] = (
        (_ROW, (risk(identity["max"]), None)),
        (_ROW_MEAN, (risk(identity["mean"]), baseline(guess["identity"]))),
        ("rows found for certain", (count(identity["certain_rows"]), None)),
        ("sure of the value, at worst", (risk(attribute["max"]), None)),
        ("sure of the value, on average", (risk(attribute["mean"]), baseline(guess["attribute"]))),
        ("values known for certain", (count(attribute["certain_rows"]), None)),
    )
    lines = [
        ("knows", f"{listed(found['known'])}, the groups and the output tables; not what was drawn"),
        ("people", count(found["targets"]).markup()),
        ("computed exactly", sentence("for {} of the people", baseline(found["exact_share"]))),
    ]
    table = Figures((("informed", AFTER), ("group alone", GUESS)), rows)
    return _attack_card("Informed adversary", table, lines, [identity["max"], attribute["max"]])


def corruption_card(result: CorruptionResult) -> str:
    """How far confidence rises where others are corrupted, beside the same cells with everybody's true value.

    >>> import undercover as uc
    >>> people, schema = uc.datasets.census(1000), uc.datasets.census_schema(["age", "sex"])
    >>> run = uc.publish(people, schema, uc.PerturbedGeneralization(k=6, p=0.3))
    >>> "Corruption: within what is promised" in corruption_card(uc.attack(run, uc.Corruption(shares=(0, 1))))
    True
    """
    found = result.to_dict()
    most = max(entry["share"] for entry in found["sweep"])
    plain = next(entry for entry in found["plain"] if entry["share"] == most)
    at_most = [entry for entry in found["sweep"] if entry["share"] == most]
    seen = next((entry for entry in at_most if entry["prior"] == "overall"), at_most[0])
    true, released, prior = plain["confidence"], seen["confidence"], seen["baseline"]
    worst = max(found["sweep"], key=lambda entry: entry["growth"]["max"])
    rows: tuple[tuple[str, Cells], ...] = (
        ("sure of the true value, at worst", (risk(true["max"]), risk(released["max"]), baseline(prior["max"]))),
        ("sure of the true value, on average", (risk(true["mean"]), risk(released["mean"]), baseline(prior["mean"]))),
        ("people certain", (count(plain["certain_rows"]), count(seen["certain_rows"]), None)),
    )
    lines = [
        ("shown for", sentence("{} of the others corrupted, prior: {}", risk(most), seen["prior"])),
        ("confidence rises", sentence("by {} at worst", risk(found["worst_growth"]))),
        ("promised there", sentence("by {} at most", risk(worst["bound"]))),
        ("people", sentence("{} in cells of at least {}", count(found["targets"]), count(found["smallest_cell"]))),
    ]
    kept = found["within_bounds"]
    return card(
        "Corruption: within what is promised" if kept else "Corruption: more than is promised",
        lines,
        table=Figures((("true values", BEFORE), ("release", AFTER), ("prior", GUESS)), rows),
        edge=GOOD if kept else BAD,
        following="`.to_dict()` has every share and prior; `Corruption().victim` looks at one person.",
        private=True,
    )


def joint_risk_card(risks: JointRisk) -> str:
    """What tables say together, beside each of them alone.

    >>> import pyarrow as pa
    >>> from undercover.attacks import JointRelease
    >>> from undercover.guarantees.joint.tables import foreign_table
    >>> ages = pa.table({"age": ["old", "old", "young", "young"], "pay": ["high", "low", "low", "middle"]})
    >>> towns = pa.table({"zip": ["1", "1", "2", "2"], "pay": ["high", "low", "low", "middle"]})
    >>> tables = [foreign_table(ages, "revenue", sensitive="pay"), foreign_table(towns, "census", sensitive="pay")]
    >>> "Tables together: somebody is certain" in joint_risk_card(JointRelease().run(tables))
    True
    """
    found = risks.to_dict()
    rows: list[tuple[str, Cells]] = [
        (f"`{table['name']}` alone", (risk(table["max_probability"]), count(table["l"])))
        for table in found["tables"][:6]
    ]
    rows += [
        ("together", (risk(found["max_probability"]), count(found["l"]))),
        ("guessing", (baseline(found["baseline"]), count(found["values"]))),
    ]
    lines: list[tuple[str, Any]] = [("combinations of classes", count(found["combinations"]).markup())]
    if found["impossible_combinations"]:
        lines.append(("of them impossible", count(found["impossible_combinations"]).markup()))
    if found["possible_l"] is not None:
        lines.append(("values left where sizes are known", count(found["possible_l"]).markup()))
    if not found["exhaustive"]:
        lines.append(("looked at", "those of the smallest sets of values; others may be surer"))
    columns = ((f"sure of {found['sensitive']}", AFTER), ("values left, at least", AFTER))
    return _attack_card(
        "Tables together",
        Figures(columns, tuple(rows)),
        lines,
        [found["max_probability"]],
        following="`.worst` lists the combinations, `.table()` shows them.",
        private=False,
    )


def correlation_card(result: CorrelationResult) -> str:
    """What the number of people in a combination tells, for the likeliest value."""
    found = result.to_dict()
    ways = [("all instances equally likely", found["by_instances"])]
    if found["by_assignments"] is not None:
        ways.append(("all assignments equally likely", found["by_assignments"]))
    rows = tuple((label, (risk(max(shares)),)) for label, shares in ways)
    lines = [
        ("people in the combination", count(found["size"]).markup()),
        ("instances", count(found["instances"]).markup()),
        ("values possible", count(found["possible_values"]).markup()),
    ]
    worst = [max(shares) for _, shares in ways]
    table = Figures((("likeliest value", AFTER),), rows)
    return _attack_card(
        "Known correlation", table, lines, worst, following="`.by_instances` has every value.", private=False
    )


CARDS: tuple[tuple[type[Any], Card], ...] = (
    (LinkageResult, linkage_card),
    (BucketMatchingResult, bucket_matching_card),
    (InformedResult, informed_card),
    (CorruptionResult, corruption_card),
    (JointRisk, joint_risk_card),
    (CorrelationResult, correlation_card),
    *algorithm_cards.CARDS,
)


def _attack_card(
    name: str,
    table: Figures,
    lines: Iterable[tuple[str, Any]],
    worst: Iterable[float],
    *,
    following: str = _NUMBERS,
    private: bool = True,
) -> str:
    """A card with the verdict over the highest probabilities that were reached."""
    highest = max(worst, default=0.0)
    verdict, edge = "nobody is certain", GOOD if highest <= AT_RISK + 1e-12 else PLAIN
    if highest > _CERTAIN:
        verdict, edge = "somebody is certain", BAD
    return card(f"{name}: {verdict}", list(lines), table=table, edge=edge, following=following, private=private)


def _counts(before: Any, after: Any, *path: str) -> tuple[Any, Any]:
    return count(_at(before, path)), count(_at(after, path))


def _at(entry: Any, path: Iterable[str]) -> Any:
    for step in path:
        entry = entry[step]
    return entry
