"""Small cards for notebooks. The model knows nothing of HTML: :func:`register` attaches the cards from above.

Here are those of schemas, runs, releases and verifications; attacks, measures and answers have theirs in
:mod:`undercover.pages.attack_cards` and :mod:`undercover.pages.utility_cards`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from undercover.guarantees.verify import Verification
from undercover.model.figures import number, parameters, seconds
from undercover.model.finding import Finding
from undercover.model.release import Release
from undercover.model.run import Run
from undercover.model.schema import Schema
from undercover.pages import attack_cards, utility_cards
from undercover.pages.card_parts import BAD, GOOD, PLAIN, Card, card, listed
from undercover.pages.words import asked_parameters, promise_title, release_title


def register() -> None:
    """Give everything a notebook user holds a card; calling it twice does no harm.

    >>> register()
    >>> Schema(quasi_identifiers=["age"])._repr_html_().startswith("<div")
    True
    """
    own: tuple[tuple[type[Any], Card], ...] = (
        (Schema, schema_card),
        (Run, run_card),
        (Release, release_card),
        (Verification, verification_card),
    )
    for kind, made in (*own, *attack_cards.CARDS, *utility_cards.CARDS):
        kind._repr_html_ = made


def schema_card(schema: Schema) -> str:
    """Which column plays which part.

    >>> "quasi-identifier" in schema_card(Schema(quasi_identifiers=["age"], sensitive="disease"))
    True
    """
    lines: list[tuple[str, str]] = [(role, listed(names)) for role, names in schema.by_role().items() if names]
    trees = [name for name in schema.published if schema.column(name).hierarchy is not None]
    if trees:
        lines.append(("with hierarchy", listed(trees)))
    lines.append(("missing values", schema.missing))
    return card("Schema", lines, following="Hand it to `undercover.publish`.")


def release_card(release: Release) -> str:
    """Tables and promises of a release.

    >>> "Mondrian, k = 5" in release_card(Release("mondrian", {"k": 5}, (), True))
    True
    """
    return card(
        release_title(release),
        _release_lines(release),
        edge=_edge([entry.get("holds") for entry in release.guarantees]),
        following="`.table()` shows it, `undercover.verify` checks it.",
    )


def run_card(run: Run) -> str:
    """The release of a run and what only the holder may see.

    >>> import numpy as np
    >>> from undercover.model.groups import Groups
    >>> release, schema = Release("mondrian", {"k": 5}, (), True), Schema(quasi_identifiers=["age"])
    >>> groups, rows = Groups(np.zeros(5, np.int32), 1), np.arange(5)
    >>> card = run_card(Run(release, schema, groups, rows, {"rows": 8}, {"source": "seed", "seed": 7}, {}))
    >>> "5 of 8" in card, "reproducible: not for publication" in card
    (True, True)
    """
    read = run.source.get("rows")
    lines = [("rows", f"{number(len(run.rows))} of {number(read)}" if isinstance(read, int) else number(len(run.rows)))]
    lines += _release_lines(run.release)
    if run.timings:
        lines.append(("time", seconds(sum(run.timings.values()))))
    if run.randomness.get("seed") is not None:
        lines.append(("randomness", "reproducible: not for publication"))
    lines += [("warning", text) for text in run.warnings]
    return card(
        release_title(run.release),
        lines,
        edge=_edge([entry.get("holds") for entry in run.release.guarantees]),
        following="`.release` may leave the house, `undercover.save` writes both.",
        private=True,
    )


def verification_card(verification: Verification) -> str:
    """Every promise with what was found.

    >>> card = verification_card(Verification((Finding("k-anonymity", {"k": 2}, 2, 3, True),)))
    >>> "holds: 3, at least 2 required" in card
    True
    """
    lines = [(promise_title(finding.name, finding.parameters), _found(finding)) for finding in verification.findings]
    lines += [("problem", problem) for problem in verification.problems]
    title, edge = "Verification: everything holds", GOOD
    if not verification.holds:
        title, edge = "Verification: fails", BAD
    elif any(finding.holds is None for finding in verification.findings):
        title, edge = "Verification: nothing fails, not everything can be told", PLAIN
    return card(title, lines, edge=edge, following="`.to_dict()` has the numbers.")


def _release_lines(release: Release) -> list[tuple[str, str]]:
    lines = [("parameters", parameters(asked_parameters(release.parameters)) or "none")]
    lines += [
        (f"table {table.name}", f"{number(table.rows)} rows, {len(table.columns)} columns") for table in release.tables
    ]
    if release.suppressed_rows:
        lines.append(("suppressed", f"{number(release.suppressed_rows)} rows"))
    for entry in release.guarantees:
        verdict = "open" if entry.get("holds") is None else "holds" if entry["holds"] else "fails"
        lines.append((promise_title(str(entry.get("name")), entry), verdict))
    lines.append(("algorithm-safe", "yes" if release.algorithm_safe else "no"))
    return lines


def _found(finding: Finding) -> str:
    if finding.holds is None:
        return f"open, it needs: {finding.needs}"
    verdict = "holds" if finding.holds else "fails"
    if finding.required is None:
        return verdict
    return f"{verdict}: {finding.shown()}, {finding.sense} {finding.required:g} required"


def _edge(verdicts: Sequence[Any]) -> str:
    if False in verdicts:
        return BAD
    return GOOD if True in verdicts else PLAIN
