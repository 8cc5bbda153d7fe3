"""A new release beside what was published of the same people: attacked together, and judged by what is promised.

People are taken by the releases they are in: whoever is in releases 1 and 3 is attacked with the new one and these two.
The attack is :func:`undercover.attacks.joint.overlap.overlap`, with the table the new release was made of. What must
hold of everybody who was published before:

- nobody becomes certain by the releases together whom none of them made certain alone;
- what the new release promises, as each guarantee decides for itself (``holds_jointly``) on the bounds of the attack;
- an earlier release that limits how much likelier it makes one value than another is not joined by one that does not.

What cannot be looked at (a folder that is gone, quasi-identifiers that were drawn) counts as not held. What does not
hold is refused, or, where its holder insists, recorded and judged: the verdict is then *Do not publish*. So it is where
the attack, by its assumption, believes more than is promised. What no bound decides is for the holder to decide.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

import numpy as np

from undercover.arrays import count
from undercover.attacks.joint.overlap import OverlapResult, overlap
from undercover.errors import DataError, ParameterError, UnreachableError, VerificationError
from undercover.forms import read
from undercover.forms.narrowed import about, same_tables
from undercover.guarantees.breach.rho import released_ratio
from undercover.guarantees.checking import Checkable, holds_jointly
from undercover.guarantees.requirements import FOUND, guarantee_from_mapping
from undercover.io.ledger.book import Before
from undercover.io.release.contents import MANIFEST, public_part
from undercover.io.release.manifest import load_release
from undercover.io.source import sha256
from undercover.model.protocols import Composing, Progress, no_progress
from undercover.model.release import Release
from undercover.model.run import Earlier, Run, SamePeople
from undercover.verbs.ledger import all_the_same

NOT_COUNTED = "It is not counted: give both tables the same identifier, or keep a ledger for each population."
NOBODY_LOOKED = "Whoever is in both may be exposed by having both releases, and nobody looked."

_LEFT_OUT = ("story", "worst_rows")


@dataclass(frozen=True)
class Judged:
    """What was found of people in several releases, and what of the promise does not hold for them."""

    results: tuple[OverlapResult, ...] = ()
    found: tuple[dict[str, Any], ...] = ()
    problems: tuple[str, ...] = ()  # what does not hold, or cannot be looked at
    exceeded: tuple[str, ...] = ()  # promises that the attack goes beyond, by what it assumes
    undecided: tuple[str, ...] = ()  # promises that no bound decides


def counted(
    run: Run, before: Before, *, despite: bool, broken: Sequence[str] = (), progress: Progress = no_progress
) -> Run:
    """The run with what earlier releases of the same people make of it; refused where its promise does not hold.

    ``broken`` is what the method itself could not promise any more, where its holder insisted.
    """
    warnings = [f"{sentence}. {NOT_COUNTED}" for sentence in before.unknown]
    if not before.earlier and not before.unknown:
        return run
    judged = Judged()
    if before.earlier and not isinstance(run.method, Composing):
        progress("attacking with earlier releases", 0.0)
        judged = judge(run, before, progress=progress)
    if judged.problems and not despite:
        raise UnreachableError(
            " ".join([*(f"{entry.sentence()}." for entry in before.earlier), *judged.problems, all_the_same()]),
            best={"certain": max((entry["together"]["certain"] for entry in judged.found), default=None)},
        )
    judged = replace(
        judged,
        problems=(*broken, *judged.problems),
        undecided=(*judged.undecided, *(f"{sentence}. {NOT_COUNTED}" for sentence in before.unknown)),
    )
    warnings += [f"{entry.sentence()}." for entry in before.earlier]
    warnings += [f"Published despite earlier releases of the same people: {problem}" for problem in judged.problems]
    return noted(replace(run, warnings=(*run.warnings, *dict.fromkeys(warnings))), before, judged, despite=despite)


def noted(run: Run, before: Before, judged: Judged, *, despite: bool) -> Run:
    """The run with what was found of people in earlier releases, for its verdict and its report."""
    earlier: dict[str, Any] = {
        "releases": [entry.to_dict() for entry in before.earlier],
        "together": list(judged.found),
        "does_not_hold": list(judged.problems),
        "exceeded": list(judged.exceeded),
        "not_decided": list(judged.undecided),
    }
    known = run.diagnostics.get("earlier", {})
    earlier = {key: [*known.get(key, ()), *more] for key, more in earlier.items()}
    earlier["despite"] = despite or known.get("despite", False)
    return replace(run, diagnostics={**run.diagnostics, "earlier": earlier}, beside=(*run.beside, *judged.results))


def judge(
    run: Run, before: Before, *, find: Callable[[Earlier], Release] | None = None, progress: Progress = no_progress
) -> Judged:
    """Attack a run together with what was published of its people, as they are in it.

    ``find`` gives the tables of an earlier release, by default from its folder.
    """
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
            release = (find or released)(entry)
            if not same_tables(release, run.release):  # the same rows again say nothing more
                there[entry.number] = release
        except (DataError, VerificationError) as error:
            problems.append(f"What it tells together with {entry.called} cannot be looked at: {error}")
    assert run.original is not None
    claims = [_claim(entry) for entry in run.release.guarantees]
    inside = np.stack([rows[run.original.rows] for rows in before.rows])  # (n_releases, n_rows)
    results, found, exceeded, undecided = [], [], [], []
    for pattern in np.unique(inside, axis=1).T:
        members = [entry for entry, is_in in zip(before.earlier, pattern, strict=True) if is_in]
        seen = [entry for entry in members if entry.number in there]
        if not seen:
            continue
        people = run.original.take(np.flatnonzero((inside == pattern[:, None]).all(axis=0)))
        for sensitive in run.original.schema.sensitive:
            names = [*(entry.called for entry in seen), "this release"]
            releases = [*(about(there[entry.number], people) for entry in seen), run.release]
            column = run.original[sensitive]
            published = count(column.codes[run.original.places(run.rows)], column.domain.size)
            result = overlap(releases, people, sensitive=sensitive, names=names, overall=published, progress=progress)
            problems += wrong(result, releases)
            decided = [_decided(claim, result) for claim in claims]
            problems += [one.sentence for one in decided if one.holds is False]
            exceeded += [one.sentence for one in decided if one.holds is None and one.by_attack is False]
            undecided += [one.sentence for one in decided if one.holds is None and one.by_attack is not False]
            kept = {name: value for name, value in result.to_dict().items() if name not in _LEFT_OUT}
            kept["claims"] = [one.to_dict() for one in decided]
            found.append({"in": [entry.number for entry in members], **kept})
            results.append(result)
    unique = (tuple(dict.fromkeys(sentences)) for sentences in (problems, exceeded, undecided))
    return Judged(tuple(results), tuple(found), *unique)


def with_recipe(run: Run, recipe: Run, people: SamePeople, progress: Progress = no_progress) -> Run:
    """A run of a recipe with what the release of the recipe makes of it, where people are in both tables.

    They are attacked with both releases. Nothing is refused: the verdict judges what was found.
    """
    if not people:
        nobody_looked = Judged(undecided=(f"{people.unchecked}. {NOBODY_LOOKED}",)) if people.unchecked else Judged()
        return noted(run, Before(), nobody_looked, despite=False) if people.unchecked else run
    folder = recipe.source.get("folder")
    digest = sha256(public_part(folder) / MANIFEST) if folder is not None else None
    counted_already = [entry["release"] for entry in run.diagnostics.get("earlier", {}).get("releases", ())]
    if isinstance(run.method, Composing) or (digest is not None and digest in counted_already):
        return run
    inside = people.in_both
    earlier = Earlier(
        number=0,
        method=recipe.release.method,
        made=recipe.made,
        rows=people.rows,
        shared=people.rows if inside is None else int(inside.sum()),
        known_by=tuple(name for name, shared in (people.shared or {}).items() if shared),
        name=PurePath(folder).name if folder is not None else "",
        folder=folder,
        release=digest,
        guarantees=recipe.release.guarantees,
        sensitive=recipe.schema.sensitive,
        ratio=released_ratio(recipe.release),
    )
    if run.original is None or inside is None:
        unjudged = Judged(problems=(f"{people.sentence()}, and what both releases tell together was not worked out.",))
        return noted(run, Before((earlier,)), unjudged, despite=False)
    before = Before((earlier,), (inside,))
    progress("attacking with the release of the recipe", 0.0)
    judged = judge(run, before, find=lambda _: recipe.release, progress=progress)
    return noted(run, before, judged, despite=False)


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


def wrong(result: OverlapResult, releases: Sequence[Release]) -> list[str]:
    """What must not happen to people who are in all of these releases, whatever is promised."""
    people = len(result.rows)
    column = f"`{result.sensitive}`"
    problems = [
        f"What {part.name} tells of {column} together with others cannot be worked out: {part.why_not}"
        for part, release in zip(result.parts, releases, strict=True)
        if part.alone is None and result.sensitive in read(release).values_table.names("sensitive")
    ]
    newly = int(result.newly_certain.sum())
    if newly:
        problems.append(
            f"Of {newly:,} of {people:,} people {column} becomes certain by having it together with {_with(result)}, "
            "and by no release alone."
        )
    return problems


def _with(result: OverlapResult) -> str:
    return ", ".join(part.name for part in result.parts[:-1])


@dataclass(frozen=True)
class _Decided:
    """One promise, held against what several releases tell together."""

    entry: Mapping[str, Any]  # its name and parameters
    holds: bool | None
    by_attack: bool | None  # the same if what the attack assumes were true
    sentence: str

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {"claim": dict(self.entry), "holds": self.holds, "by_attack": self.by_attack}


def _claim(entry: Mapping[str, Any]) -> tuple[Mapping[str, Any], Checkable | None]:
    """What a release promises as written down, and the guarantee; ``None`` where nobody offers it any more."""
    asked = {name: value for name, value in entry.items() if name not in FOUND}
    short = {name: value for name, value in asked.items() if isinstance(value, str | int | float | bool | None)}
    try:
        return short, guarantee_from_mapping(asked)
    except ParameterError:  # a guarantee of the holder's own code: it cannot be asked, so nothing is decided
        return short, None


def _decided(claim: tuple[Mapping[str, Any], Checkable | None], result: OverlapResult) -> _Decided:
    """Ask a guarantee whether it holds for people who are in several releases."""
    entry, guarantee = claim
    beliefs = result.beliefs
    holds = by_attack = None
    if guarantee is not None and beliefs is not None:
        holds = holds_jointly(guarantee, beliefs)
        by_attack = holds if holds is not None else holds_jointly(guarantee, beliefs.taken_for_true())
    numbers = [f"{name} = {value}" for name, value in entry.items() if name != "name" and _is_number(value)]
    said = ", ".join(numbers) or (str(entry["name"]) if guarantee is None else guarantee.title())
    together, people = result.together, len(result.rows)
    figures = (
        f"of {people:,} people, a value of `{result.sensitive}` is believed by up to {together.highest.max():.0%}, and "
        f"as few as {int(together.left.min())} values stay possible."
    )
    if holds is False:
        sentence = f"{said} does not hold together with {_with(result)}: {figures}"
    elif by_attack is False:
        sentence = (
            f"{said} is exceeded by somebody who joins it with {_with(result)} and takes releases to be independent "
            f"given the value: {figures}"
        )
    else:
        sentence = f"Whether {said} holds together with {_with(result)} is not decided: {figures}"
    return _Decided(entry, holds, by_attack, sentence)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) or (isinstance(value, str) and value[:1].isdigit())
