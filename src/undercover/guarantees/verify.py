"""Verification: every claim recomputed from the published tables, by code that shares nothing with the methods.

A claim fails where the table does not keep it, and also where the manifest records another value than the table has:
either of the two was changed after the release was made.

The world is closed: roles, structure columns and parameters that a release of this form cannot have are problems, not
facts. What published tables cannot show is ``None``, never "holds"; where nothing is promised, where all that is
promised asks for nothing (k = 1), or where nothing of it can be checked, nothing is verified.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from undercover import plugins
from undercover.errors import InputError, UnknownFormError, listed
from undercover.forms import read
from undercover.forms.classes import Classes, classes_of_table
from undercover.forms.roles import misfits, remarks, resembling, spellings, strange_cells
from undercover.guarantees.cells import followers, misread_cells
from undercover.guarantees.checking import Checkable, Gradual, Particular, PrivatelyCheckable, Stated
from undercover.guarantees.contradictions import contradictions
from undercover.guarantees.declared import rests_on_word
from undercover.guarantees.requirements import FOUND, guarantee_from_mapping
from undercover.model.figures import parameters
from undercover.model.finding import Finding, Sense, shown
from undercover.model.form import PEOPLE
from undercover.model.protocols import fits
from undercover.model.release import REPRODUCIBLE, STATEMENTS, Release
from undercover.model.run import Run
from undercover.model.view import Figure, Part, Said, Verdict, View, Viewable, table
from undercover.waiting import Progress, no_progress, through

_SHOWN = 5

NOT_OFFERED = "a package that offers this guarantee"
"""What a claim needs that nobody here can check. It is not checked, so the verification as a whole fails."""

NOTHING_PROMISED = "nothing was promised, so nothing was verified"

SOME_UNCHECKED = "what the release says of its making cannot be checked here; see what is not known"

NOTHING_CHECKED = "nothing of what was promised can be checked from what is here; it needs {needs}"


@dataclass(frozen=True)
class Verification(Viewable):
    """All findings about one release or table; ``problems`` are faults beyond single guarantees.

    ``notes`` are what a reader must know besides, ``spellings`` sensitive values that are spelled in several ways.
    ``stated`` is what the release declares of its method, and ``None`` where nobody can say whether it is so.
    ``signed_by`` is the fingerprint of the key that signed it. An ``old`` release says less of itself, so less of it
    can be verified.
    """

    findings: tuple[Finding, ...]
    problems: tuple[str, ...] = ()
    classes: int = 0
    rows: int = 0
    suppressed_rows: int = 0
    notes: tuple[str, ...] = ()
    spellings: tuple[str, ...] = ()
    stated: Mapping[str, bool | None] = field(default_factory=dict)
    signed_by: str | None = None
    unchecked: tuple[str, ...] = ()  # what is said of the whole and nobody here can check
    old: bool = False  # whether its manifest says less than one of this version does

    @property
    def holds(self) -> bool | None:
        """Whether nothing was found wrong; ``None`` where nothing was promised or not enough can be checked.

        What public data cannot show does not count against it, as long as something else was checked.
        """
        if self.problems or self.failures:
            return False
        checked = any(finding.holds or finding.is_refutable for finding in self.promises)
        return True if checked and not self.unchecked else None

    @property
    def promises(self) -> tuple[Finding, ...]:
        """The findings about promises that ask for something."""
        return tuple(finding for finding in self.findings if finding.is_promise and not finding.is_vacuous)

    @property
    def failures(self) -> tuple[Finding, ...]:
        """The findings that fail."""
        return tuple(finding for finding in self.findings if finding.holds is False)

    @property
    def said(self) -> str:
        """The verdict in words."""
        if self.holds is False:
            return "fails"
        if self.holds is None:
            return self._unverified()
        known = [finding for finding in self.findings if finding.holds is not None]
        if not known:
            return "nothing fails, and nothing of what was promised can be told"
        if self.old:
            return "nothing fails of what an old release says of itself"
        return "everything holds" if len(known) == len(self.findings) else "nothing fails, not everything can be told"

    def _unverified(self) -> str:
        """Why nothing was verified."""
        if self.unchecked:
            return SOME_UNCHECKED
        if self.promises:
            return NOTHING_CHECKED.format(needs=listed_needs(self.promises))
        empty = dict.fromkeys(f"{one.name} ({parameters(one.parameters)})" for one in self.findings if one.is_vacuous)
        return f"{NOTHING_PROMISED}: {', '.join(empty)} asks for nothing" if empty else NOTHING_PROMISED

    def extended(
        self, findings: Iterable[Finding] = (), problems: Iterable[str] = (), notes: Iterable[str] = ()
    ) -> Verification:
        """The same with more to say, such as the findings of a comparison with the original."""
        return replace(
            self,
            findings=(*self.findings, *findings),
            problems=(*self.problems, *problems),
            notes=(*self.notes, *notes),
        )

    def manifest_entries(self) -> tuple[dict[str, Any], ...]:
        """The findings as ``release.json`` records them."""
        return tuple(finding.manifest_entry() for finding in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """Everything, at full precision, ready for JSON."""
        return {
            "holds": self.holds,
            "guarantees": [finding.to_dict() for finding in self.findings],
            "problems": list(self.problems),
            "classes": self.classes,
            "rows": self.rows,
            "suppressed_rows": self.suppressed_rows,
            "stated": {name: {"holds": holds} for name, holds in self.stated.items()},
            "signed_by": self.signed_by,
            "old": self.old,
            "notes": [*self.unchecked, *self.spellings, *self.notes],
        }

    def view(self) -> View:
        """Every promise with what was asked and found, and the worst classes of those that fail."""
        private = any(finding.needs == "private" and finding.holds is not None for finding in self.findings)
        beside = ", and from the private run what these cannot show" if private else " alone"
        columns = ("guarantee", "", "asked", "found", "", *(("classes against it", "rows") if self.failures else ()))
        rows = [_line(finding)[: len(columns)] for finding in self.findings]
        title = f"Recomputed from the published tables{beside}"
        parts: list[Part] = []
        if rows:
            parts.append(table(columns, "plain plain plain plain plain count count", rows, title))
        parts += [Said("problem: {}", (problem,)) for problem in self.problems]
        parts += [
            Said("{}: published tables could have refuted it and do not; the private run alone confirms it.", (name,))
            for name in dict.fromkeys(one.name for one in self.findings if one.holds is None and one.is_refutable)
        ]
        parts += [
            Said("{} promises nothing by itself.", (name,))
            for name in dict.fromkeys(one.name for one in self.findings if one.is_vacuous)
        ]
        parts += [Said("{} speaks of {}.", spoken) for spoken in self._spoken()]
        parts += [
            Said("{}: the holder's word; no published table shows it.", (name,))
            for name, holds in self.stated.items()
            if holds is None
        ]
        parts += [Said("{}", (note,)) for note in (*self.unchecked, *self.spellings, *self.notes)]
        for finding in self.failures:
            if finding.note:
                parts.append(Said("{}: {}", (finding.name, finding.note)))
            worst = [
                (_cells(entry), entry["size"], _number(entry.get("actual"), finding.sense))
                for entry in finding.examples[:_SHOWN]
            ]
            if worst:
                title = f"Worst against {finding.name}"
                parts.append(table(("cells", "size", "found"), "plain count plain", worst, title, detail=1))
        verdict: Verdict = "plain" if self.holds else "bad"  # that a promise holds is no permission, so it is not green
        following = "`.to_dict()` has the numbers."
        return View("verification", "Verification", tuple(parts), verdict, self.said, following=following)

    def _spoken(self) -> list[tuple[str, str]]:
        """Which promises speak of which columns; those of the same ones together."""
        together: dict[tuple[str, ...], list[str]] = {}
        for finding in self.findings:
            if finding.columns:
                together.setdefault(finding.columns, []).append(finding.name)
        return [(", ".join(dict.fromkeys(names)), listed(columns)) for columns, names in together.items()]

    def __repr__(self) -> str:
        held = sum(finding.holds is True for finding in self.findings)
        open_claims = sum(finding.holds is None for finding in self.findings)
        unknown = f", {open_claims} cannot be told" if open_claims else ""
        wrong = f", {len(self.problems)} problems" if self.problems else ""
        following = ".to_dict() has the numbers" if self.holds else ".failures and .problems say what is wrong"
        return f"<Verification: {held} of {len(self.findings)} guarantees hold{unknown}{wrong}; {following}>"


def listed_needs(findings: Iterable[Finding]) -> str:
    """What the findings need that cannot be told from what is here."""
    needs = dict.fromkeys(finding.needs or "more than is here" for finding in findings)
    return " and ".join("the private run" if one == "private" else one for one in needs)


def _line(finding: Finding) -> tuple[Any, ...]:
    """A finding as a line of a table."""
    required = _number(finding.required, finding.sense)
    asked = None if finding.required is None else Said("{} {}", (finding.sense, required))
    open_ = "needs the private run" if finding.needs == "private" else f"not checked: it needs {finding.needs}"
    word = {True: "holds", False: "DOES NOT HOLD", None: open_}[finding.holds]
    against = (finding.violating_classes, finding.violating_rows) if finding.holds is False else (None, None)
    return finding.name, finding.about, asked, _number(finding.actual, finding.sense), word, *against


def _cells(example: Mapping[str, Any]) -> str:
    return parameters(example["cells"]) + (f" ({example['column']})" if "column" in example else "")


def _number(value: float | None, sense: Sense) -> Figure | str:
    text = shown(value, sense)
    return text if value is None else Figure("inf" if math.isinf(value) else value, text=text)


def verify(
    release: Release,
    also: Sequence[Checkable] = (),
    *,
    problems: Sequence[str] = (),
    progress: Progress = no_progress,
) -> Verification:
    """Check every claim of a release anew.

    Its published tables are all that is looked at. ``also`` are guarantees to check beyond those it claims,
    ``problems`` faults found elsewhere, such as a file whose hash differs; they make the verification fail.
    """
    stated: dict[str, bool | None] = dict.fromkeys(STATEMENTS)
    wrong = [*problems, *misfits(release), *contradictions(release)]
    classes = _classes(release, wrong)
    if classes is None:
        return Verification((), tuple(wrong), suppressed_rows=release.suppressed_rows, stated=stated)
    findings: list[Finding] = []
    wrong += classes.problems
    wrong += [problem for find in (strange_cells, misread_cells, followers) for problem in find(read(release))]
    names = [*(str(claim.get("name")) for claim in release.guarantees), *(guarantee.name for guarantee in also)]
    told = through(progress, "verifying", names)
    for claim, _ in zip(release.guarantees, told, strict=False):
        finding = _recheck(claim, release, classes)
        findings.append(finding)
        wrong += _differences(claim, finding)
        if finding.needs == NOT_OFFERED:
            wrong.append(f"{finding.name} was not checked: no installed package offers a guarantee of that name.")
    for guarantee, _ in zip(also, told, strict=True):
        asked = guarantee.of_release(release) if fits(guarantee, Stated) else guarantee
        findings.append(_checked(asked, classes))
    return replace(
        _verification(classes, findings, wrong),
        notes=(*rests_on_word(release), *remarks(read(release)), *_seeded(release)),
        stated=stated,
    )


def _seeded(release: Release) -> Iterator[str]:
    if REPRODUCIBLE in release.warnings:
        yield f"{REPRODUCIBLE} Ask for a release that was made without one."


def _classes(release: Release, wrong: list[str]) -> Classes | None:
    """The classes of a release; ``None`` where its tables are not what it says, and then why, among what is wrong."""
    if release.form.problems(release.tables):
        return None
    try:
        return read(release).classes
    except UnknownFormError:
        raise
    except InputError as error:
        wrong += error.problems
        return None


def verify_private(verification: Verification, run: Run) -> Verification:
    """The same verification, with what published tables cannot show recomputed from the private run."""
    findings = list(verification.findings)
    problems = [*verification.problems, *read(run.release).misstated(run)]
    for i, finding in enumerate(findings):
        if finding.holds is None and finding.name in plugins.names("guarantees"):
            guarantee = guarantee_from_mapping({"name": finding.name, **finding.parameters})
            if fits(guarantee, PrivatelyCheckable):
                found = guarantee.check_run(run)
                findings[i] = replace(found, columns=finding.columns, is_vacuous=finding.is_vacuous)
                if i < len(run.release.guarantees):
                    problems += _differences(run.release.guarantees[i], findings[i])
    return replace(verification, findings=tuple(findings), problems=tuple(problems))


def verify_table(
    data: pa.Table, quasi_identifiers: Iterable[str], sensitive: Iterable[str], guarantees: Sequence[Checkable]
) -> Verification:
    """Check a table nobody here made; a row whose every quasi-identifier is ``*`` counts as suppressed.

    Where a guarantee about drawn values is among them, a column ``G`` says how many people each row stands for.
    """
    drawn = any(isinstance(guarantee, Stated) for guarantee in guarantees) and PEOPLE in data.column_names
    people = PEOPLE if drawn else None
    return verify_classes(
        classes_of_table(data, quasi_identifiers, sensitive, suppressed_is_star=True, people=people), guarantees
    )


def verify_classes(classes: Classes, guarantees: Sequence[Checkable]) -> Verification:
    """Check classes that somebody has counted."""
    found = _verification(classes, [_checked(guarantee, classes) for guarantee in guarantees], [])
    return found.extended(notes=resembling(classes))


def _verification(classes: Classes, findings: Sequence[Finding], problems: Sequence[str]) -> Verification:
    return Verification(
        tuple(findings),
        tuple(problems),
        classes.count,
        classes.rows,
        classes.suppressed,
        spellings=spellings(classes),
    )


def _recheck(claim: Mapping[str, Any], release: Release, classes: Classes) -> Finding:
    name = str(claim.get("name"))
    parameters = {key: value for key, value in claim.items() if key not in (*FOUND, "name")}
    if name not in plugins.names("guarantees"):
        return Finding(name, parameters, claim.get("required"), needs=NOT_OFFERED)
    try:
        guarantee = guarantee_from_mapping({"name": name, **parameters})
        unfit = guarantee.unfit(release) if fits(guarantee, Particular) else None
        if unfit is not None:
            return Finding(name, parameters, claim.get("required"), holds=False, note=unfit)
        return _checked(guarantee, classes)
    except InputError as error:
        note = f"The claim cannot be checked: {' '.join(error.problems)}"
        return Finding(name, parameters, claim.get("required"), holds=False, note=note)


def _checked(guarantee: Checkable, classes: Classes) -> Finding:
    """What a check found, with the columns it speaks of: the quasi-identifiers, and the sensitive ones if it does."""
    finding = guarantee.check(classes)
    if fits(guarantee, Gradual) and guarantee.is_vacuous(classes):
        finding = replace(finding, is_vacuous=True)
    if finding.columns:
        return finding
    values = classes.sensitive if guarantee.covers() & {"attribute", "distribution"} else ()
    return replace(finding, columns=(*classes.quasi_identifiers, *values))


def _differences(claim: Mapping[str, Any], finding: Finding) -> list[str]:
    """Where the manifest records something else than was found."""
    found = finding.manifest_entry()
    told = ("required", "actual", "holds", "columns") if finding.holds is not None else ("required", "columns")
    differing = [
        f"{finding.name}: the manifest says {key} = {claim[key]}, the published tables give {found[key]}."
        for key in told
        if key in claim and key in found and not _same(claim[key], found[key])
    ]
    if claim.get("needs") not in (None, finding.needs) and finding.needs != NOT_OFFERED:
        differing.append(f"{finding.name}: the manifest says it needs {claim['needs']}; published tables can tell.")
    return differing


def _same(recorded: Any, found: Any) -> bool:
    if isinstance(recorded, list | tuple) and isinstance(found, list | tuple):
        return list(recorded) == list(found)
    if isinstance(recorded, bool) or isinstance(found, bool) or not isinstance(recorded, int | float | str):
        return recorded is found or (isinstance(recorded, bool) and recorded == found)
    try:
        return math.isclose(float(recorded), float(found), rel_tol=1e-9, abs_tol=1e-12)
    except (TypeError, ValueError):
        return bool(recorded == found)
