"""Notebook cards of the attackers who know the algorithm, judged by whether that helps them."""

from __future__ import annotations

from typing import Any

from undercover.attacks import AlgorithmAwareResult
from undercover.methods.mondrian.minimality.attack import MinimalityResult
from undercover.pages.card_parts import (
    AFTER,
    BAD,
    GOOD,
    GUESS,
    PLAIN,
    Card,
    Cells,
    Figures,
    baseline,
    card,
    count,
    risk,
    sentence,
)

_COLUMNS = (("release alone", GUESS), ("with the algorithm", AFTER))


def algorithm_aware_card(result: AlgorithmAwareResult) -> str:
    """Whether knowing the algorithm helps, in the worst case and where it helps most."""
    found = result.to_dict()
    shown = [("surest of a value", found["worst"]), ("furthest apart", found["largest_gain"])]
    rows = tuple((label, (risk(entry["release_alone"]), risk(entry["posterior"]))) for label, entry in shown)
    lines: list[tuple[str, Any]] = [
        ("people", count(found["people"]).markup()),
        ("tables tried", sentence("{}, with {} releases", count(found["tables"]), count(found["releases"]))),
        ("computed", "exactly" if found["exact"] else "from samples, with intervals"),
        ("declared safe", "yes" if found["declared_safe"] else "no"),
    ]
    if found["refused"]:
        lines.insert(2, ("nothing published of", sentence("{} tables", count(found["refused"]))))
    return card(
        "Knowing the algorithm does not help" if found["safe"] else "Knowing the algorithm helps",
        lines,
        table=Figures(_COLUMNS, rows),
        edge=GOOD if found["safe"] else BAD,
        following="`.worst` says whose value and in which release.",
        private=True,
    )


def minimality_card(result: MinimalityResult) -> str:
    """What is learnt from cuts that were not made, beside what the release alone says.

    >>> import pyarrow as pa, undercover as uc
    >>> people = pa.table({"age": [30, 30] + 4 * [40], "disease": ["flu", "flu", "gout", "cold", "rash", "ulcer"]})
    >>> run = uc.publish(people, uc.Schema(quasi_identifiers="age", sensitive="disease"), uc.Mondrian(k=2, l=2))
    >>> "Minimality: somebody is certain" in minimality_card(uc.attack(run, uc.Minimality()))
    True
    """
    found = result.to_dict()
    alone, informed, people, groups = found["baseline"], found["attribute"], found["people"], found["groups"]
    rows: tuple[tuple[str, Cells], ...] = (
        ("sure of the value, at worst", (risk(alone["max"]), risk(informed["max"]))),
        ("sure of the value, on average", (risk(alone["mean"]), risk(informed["mean"]))),
        ("guesses right", (risk(alone["guess_success"]), risk(informed["guess_success"]))),
        ("values known for certain", (count(alone["certain_rows"]), count(informed["certain_rows"]))),
    )
    lines: list[tuple[str, Any]] = [
        ("people", sentence("{}, {} with refused cuts", count(found["targets"]), count(people["with_evidence"]))),
        ("groups", sentence("{}, {} with refused cuts", count(groups["all"]), count(groups["with_evidence"]))),
        ("surer of the true value", sentence("by {} at worst", risk(found["gain"]["max"]))),
        ("computed exactly", sentence("for {} of the people with refused cuts", baseline(people["exact_share"]))),
    ]
    if "promised" in found:
        beyond = sentence("{} people, {} promised", count(found["beyond_promise"]), risk(found["promised"]))
        lines.append(("beyond the promise", beyond))
    verdict, edge = "refused cuts give something away", PLAIN
    if found["gain"]["max"] == 0:
        verdict, edge = "refused cuts give nothing away", GOOD
    elif informed["certain_rows"]:
        verdict, edge = "somebody is certain", BAD
    elif found.get("beyond_promise"):
        verdict, edge = "refused cuts give more away than is promised", BAD
    return card(
        f"Minimality: {verdict}",
        lines,
        table=Figures(_COLUMNS, rows),
        edge=edge,
        following="`.to_dict()` has the numbers, `.story` says what the attacker knows.",
        private=True,
    )


CARDS: tuple[tuple[type[Any], Card], ...] = (
    (AlgorithmAwareResult, algorithm_aware_card),
    (MinimalityResult, minimality_card),
)
