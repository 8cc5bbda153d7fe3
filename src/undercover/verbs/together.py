"""A new release beside what was published of the same people: attacked together, and judged by what is promised.

People are taken by the releases they are in: whoever is in releases 1 and 3 is attacked with the new one and these two.
The attack is :func:`undercover.attacks.joint.overlap.overlap`, with the table the new release was made of. What must
hold of everybody who was published before:

- nobody becomes certain by the releases together whom none of them made certain alone;
- where l is promised: no value is believed by more than 1/l (frequency), or l values stay possible (any other form);
- an earlier release that limits how much likelier it makes one value than another is not joined by one that does not.

What cannot be looked at (a folder that is gone, quasi-identifiers that were drawn) counts as not held.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from undercover.attacks.joint.overlap import OverlapResult, overlap
from undercover.errors import DataError, UnreachableError, VerificationError
from undercover.exact import exact
from undercover.forms import read
from undercover.forms.narrowed import about, same_tables
from undercover.guarantees.breach.rho import released_ratio
from undercover.io.ledger.book import Before
from undercover.io.release.contents import MANIFEST, public_part
from undercover.io.release.manifest import load_release
from undercover.io.source import sha256
from undercover.model.protocols import Composing, Progress, no_progress
from undercover.model.release import Release
from undercover.model.run import Earlier, Run
from undercover.verbs.ledger import all_the_same

NOT_COUNTED = "It is not counted: give both tables the same identifier, or keep a ledger for each population."

_ROUNDING = 1e-9
_LEFT_OUT = ("story", "worst_rows")


@dataclass(frozen=True)
class Judged:
    """What was found of people in several releases, and what of the promise does not hold for them."""

    found: tuple[dict[str, Any], ...] = ()
    problems: tuple[str, ...] = ()


def counted(run: Run, before: Before, *, despite: bool, progress: Progress = no_progress) -> Run:
    """The run with what earlier releases of the same people make of it; refused where its promise does not hold."""
    warnings = [f"{sentence}. {NOT_COUNTED}" for sentence in before.unknown]
    if not before.earlier:
        return replace(run, warnings=(*run.warnings, *warnings))
    if isinstance(run.method, Composing):
        judged = Judged()
    else:
        progress("attacking with earlier releases", 0.0)
        judged = judge(run, before, progress)
    if judged.problems and not despite:
        raise UnreachableError(
            " ".join([*(f"{entry.sentence()}." for entry in before.earlier), *judged.problems, all_the_same()]),
            best={"certain": max((entry["together"]["certain"] for entry in judged.found), default=None)},
        )
    warnings += [f"{entry.sentence()}." for entry in before.earlier]
    warnings += [f"Published despite earlier releases of the same people: {problem}" for problem in judged.problems]
    noted = {
        "releases": [entry.to_dict() for entry in before.earlier],
        "together": list(judged.found),
        "does_not_hold": list(judged.problems),
        "despite": despite,
    }
    return replace(
        run, diagnostics={**run.diagnostics, "earlier": noted}, warnings=(*run.warnings, *dict.fromkeys(warnings))
    )


def judge(run: Run, before: Before, progress: Progress = no_progress) -> Judged:
    """Attack a run together with what was published of its people, as they are in it."""
    problems: list[str] = []
    limited = [entry for entry in before.earlier if entry.ratio is not None]
    if limited and released_ratio(run.release) is None:
        called = " and ".join(entry.called for entry in limited)
        problems.append(
            f"What {called} promises, a limit to how sure anybody becomes even if he knows everybody else's value, "
            "does not hold beside a release that gives no such limit."
        )
    there: dict[int, Release] = {}
    for entry in before.earlier:
        try:
            release = released(entry)
            if not same_tables(release, run.release):  # the same rows again say nothing more
                there[entry.number] = release
        except (DataError, VerificationError) as error:
            problems.append(f"What it tells together with {entry.called} cannot be looked at: {error}")
    found: list[dict[str, Any]] = []
    assert run.original is not None
    inside = np.stack([rows[run.original.rows] for rows in before.rows])  # (n_releases, n_rows)
    for pattern in np.unique(inside, axis=1).T:
        members = [entry for entry, is_in in zip(before.earlier, pattern, strict=True) if is_in]
        seen = [entry for entry in members if entry.number in there]
        if not seen:
            continue
        people = run.original.take(np.flatnonzero((inside == pattern[:, None]).all(axis=0)))
        for sensitive in run.original.schema.sensitive:
            names = [*(entry.called for entry in seen), "this release"]
            releases = [*(about(there[entry.number], people) for entry in seen), run.release]
            result = overlap(releases, people, sensitive=sensitive, names=names, progress=progress)
            problems += wrong(result, releases, run.release.guarantees)
            kept = {name: value for name, value in result.to_dict().items() if name not in _LEFT_OUT}
            found.append({"in": [entry.number for entry in members], **kept})
    return Judged(tuple(found), tuple(dict.fromkeys(problems)))


def released(entry: Earlier) -> Release:
    """The published tables of an earlier release, as they were."""
    if entry.folder is None:
        raise DataError("It was not written to a folder.")
    public = public_part(entry.folder)
    if not (public / MANIFEST).is_file():
        raise DataError(f"It is no longer in `{entry.folder}`. Bring it back, or enter it from where it is now.")
    if sha256(public / MANIFEST) != entry.release:
        raise DataError(f"`{entry.folder}` holds another release now. Bring it back.")
    release, problems = load_release(public)
    if problems:
        raise VerificationError(" ".join(problems))
    return release


def wrong(result: OverlapResult, releases: Sequence[Release], claims: Sequence[Any]) -> list[str]:
    """What does not hold of people who are in all of these releases, by the attack on them together."""
    people = len(result.rows)
    column = f"`{result.sensitive}`"
    with_ = ", ".join(part.name for part in result.parts[:-1])
    problems = [
        f"What {part.name} tells of {column} together with others cannot be worked out: {part.why_not}"
        for part, release in zip(result.parts, releases, strict=True)
        if part.alone is None and result.sensitive in read(release).values_table.names("sensitive")
    ]
    newly = int(result.newly_certain.sum())
    if newly:
        problems.append(
            f"Of {newly:,} of {people:,} people {column} becomes certain by having it together with {with_}, and by no "
            "release alone."
        )
    for claim in claims:
        if claim.get("name") == "l-diversity" and claim.get("column", result.sensitive) == result.sensitive:
            problems += _not_diverse(result, claim, f"together with {with_}")
    return problems


def _not_diverse(result: OverlapResult, claim: Mapping[str, Any], with_: str) -> list[str]:
    """Whether a promised l holds: no value believed by more than 1/l, or for other forms l values left."""
    least, together, people = float(exact(claim["l"])), result.together, len(result.rows)
    said = f"l = {claim['l']} does not hold {with_}: of {{:,}} of {people:,} people"
    if claim.get("form", "frequency") != "frequency":
        few = int((together.left < least).sum())
        left = f"as few as {int(together.left.min())} values of `{result.sensitive}` stay possible."
        return [f"{said.format(few)} {left}"] if few else []
    most = 1 / least + _ROUNDING
    beyond = int((together.highest > most).sum())
    own = result.parts[-1].alone
    alone = 0 if own is None else int((own.highest > most).sum())
    believed = (
        f"a value of `{result.sensitive}` is believed by up to {together.highest.max():.0%}, where at most "
        f"{1 / least:.0%} is promised ({alone:,} by this release alone)."
    )
    return [f"{said.format(beyond)} {believed}"] if beyond else []
