"""Verification: every claim recomputed from the published tables, by code that shares nothing with the methods.

A claim fails where the table does not keep it, and also where the manifest records another value than the table has:
either of the two was changed after the release was made.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from undercover import plugins
from undercover.errors import InputError
from undercover.forms import classes_of
from undercover.forms.classes import Classes, classes_of_table
from undercover.guarantees.checking import Checkable, PrivatelyCheckable, Stated
from undercover.guarantees.requirements import FOUND, guarantee_from_mapping
from undercover.model.figures import parameters
from undercover.model.finding import Finding, Sense, shown
from undercover.model.form import PEOPLE
from undercover.model.release import Release
from undercover.model.run import Run
from undercover.model.view import Figure, Part, Said, Verdict, View, Viewable, table

_SHOWN = 5
_ABOUT = ("form", "column", "c")

NOT_OFFERED = "a package that offers this guarantee"
"""What a claim needs that nobody here can check. It is not checked, so the verification as a whole fails."""


@dataclass(frozen=True)
class Verification(Viewable):
    """All findings about one release or table; ``problems`` are faults beyond single guarantees."""

    findings: tuple[Finding, ...]
    problems: tuple[str, ...] = ()
    classes: int = 0
    rows: int = 0
    suppressed_rows: int = 0

    @property
    def holds(self) -> bool:
        """Whether nothing was found wrong; what public data cannot show does not count against it."""
        return not self.problems and all(finding.holds is not False for finding in self.findings)

    @property
    def failures(self) -> tuple[Finding, ...]:
        """The findings that fail."""
        return tuple(finding for finding in self.findings if finding.holds is False)

    def extended(self, findings: Iterable[Finding] = (), problems: Iterable[str] = ()) -> Verification:
        """The same with more findings and problems, such as those of a comparison with the original."""
        return replace(self, findings=(*self.findings, *findings), problems=(*self.problems, *problems))

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
        }

    def view(self) -> View:
        """Every promise with what was asked and found, and the worst classes of those that fail."""
        private = any(finding.needs == "private" and finding.holds is not None for finding in self.findings)
        beside = ", and from the private run what these cannot show" if private else " alone"
        columns = ("guarantee", "", "asked", "found", "", *(("classes against it", "rows") if self.failures else ()))
        rows = [_line(finding)[: len(columns)] for finding in self.findings]
        parts: list[Part] = [
            table(
                columns,
                "plain plain plain plain plain count count",
                rows,
                f"Recomputed from the published tables{beside}",
            )
        ]
        parts += [Said("problem: {}", (problem,)) for problem in self.problems]
        for finding in self.failures:
            if finding.note:
                parts.append(Said("{}: {}", (finding.name, finding.note)))
            worst = [
                (_cells(entry), entry["size"], _number(entry["actual"], finding.sense))
                for entry in finding.examples[:_SHOWN]
            ]
            if worst:
                title = f"Worst against {finding.name}"
                parts.append(table(("cells", "size", "found"), "plain count plain", worst, title, detail=1))
        said: tuple[Verdict, str] = ("good", "everything holds")
        if not self.holds:
            said = "bad", "fails"
        elif any(finding.holds is None for finding in self.findings):
            said = "plain", "nothing fails, not everything can be told"
        following = "`.to_dict()` has the numbers."
        return View("verification", "Verification", tuple(parts), *said, following=following)

    def __repr__(self) -> str:
        held = sum(finding.holds is True for finding in self.findings)
        open_claims = sum(finding.holds is None for finding in self.findings)
        unknown = f", {open_claims} cannot be told" if open_claims else ""
        wrong = f", {len(self.problems)} problems" if self.problems else ""
        following = ".to_dict() has the numbers" if self.holds else ".failures and .problems say what is wrong"
        return f"<Verification: {held} of {len(self.findings)} guarantees hold{unknown}{wrong}; {following}>"


def _line(finding: Finding) -> tuple[Any, ...]:
    """A finding as a line of a table."""
    about = ", ".join(f"{name}={value}" for name, value in finding.parameters.items() if name in _ABOUT)
    required = _number(finding.required, finding.sense)
    asked = None if finding.required is None else Said("{} {}", (finding.sense, required))
    open_ = "needs the private run" if finding.needs == "private" else f"not checked: it needs {finding.needs}"
    word = {True: "holds", False: "DOES NOT HOLD", None: open_}[finding.holds]
    against = (finding.violating_classes, finding.violating_rows) if finding.holds is False else (None, None)
    return finding.name, about, asked, _number(finding.actual, finding.sense), word, *against


def _cells(example: Mapping[str, Any]) -> str:
    return parameters(example["cells"]) + (f" ({example['column']})" if "column" in example else "")


def _number(value: float | None, sense: Sense) -> Figure | str:
    text = shown(value, sense)
    return text if value is None else Figure("inf" if math.isinf(value) else value, text=text)


def verify(release: Release, also: Sequence[Checkable] = (), *, problems: Sequence[str] = ()) -> Verification:
    """Check every claim of a release anew.

    Its published tables are all that is looked at. ``also`` are guarantees to check beyond those it claims,
    ``problems`` faults found elsewhere, such as a file whose hash differs; they make the verification fail.
    """
    classes = classes_of(release)
    findings: list[Finding] = []
    wrong = [*problems, *classes.problems]
    for claim in release.guarantees:
        finding = _recheck(claim, classes)
        findings.append(finding)
        wrong += _differences(claim, finding)
        if finding.needs == NOT_OFFERED:
            wrong.append(f"{finding.name} was not checked: no installed package offers a guarantee of that name.")
    for guarantee in also:
        asked = guarantee.of_release(release) if isinstance(guarantee, Stated) else guarantee
        findings.append(asked.check(classes))
    return _verification(classes, findings, wrong)


def verify_private(verification: Verification, run: Run) -> Verification:
    """The same verification, with what published tables cannot show recomputed from the private run."""
    findings = list(verification.findings)
    problems = list(verification.problems)
    for i, finding in enumerate(findings):
        if finding.holds is None and finding.name in plugins.names("guarantees"):
            guarantee = guarantee_from_mapping({"name": finding.name, **finding.parameters})
            if isinstance(guarantee, PrivatelyCheckable):
                findings[i] = guarantee.check_run(run)
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
    classes = classes_of_table(data, quasi_identifiers, sensitive, suppressed_is_star=True, people=people)
    return _verification(classes, [guarantee.check(classes) for guarantee in guarantees], [])


def _verification(classes: Classes, findings: Sequence[Finding], problems: Sequence[str]) -> Verification:
    return Verification(tuple(findings), tuple(problems), classes.count, classes.rows, classes.suppressed)


def _recheck(claim: Mapping[str, Any], classes: Classes) -> Finding:
    name = str(claim.get("name"))
    parameters = {key: value for key, value in claim.items() if key not in (*FOUND, "name")}
    if name not in plugins.names("guarantees"):
        return Finding(name, parameters, claim.get("required"), needs=NOT_OFFERED)
    try:
        return guarantee_from_mapping({"name": name, **parameters}).check(classes)
    except InputError as error:
        note = f"The claim cannot be checked: {' '.join(error.problems)}"
        return Finding(name, parameters, claim.get("required"), holds=False, note=note)


def _differences(claim: Mapping[str, Any], finding: Finding) -> list[str]:
    """Where the manifest records something else than was found."""
    if finding.holds is None:
        return []
    found = finding.manifest_entry()
    return [
        f"{finding.name}: the manifest says {key} = {claim[key]}, the published tables give {found[key]}."
        for key in ("required", "actual", "holds")
        if key in claim and not _same(claim[key], found[key])
    ]


def _same(recorded: Any, found: Any) -> bool:
    if isinstance(recorded, bool) or isinstance(found, bool) or not isinstance(recorded, int | float | str):
        return recorded is found or (isinstance(recorded, bool) and recorded == found)
    try:
        return math.isclose(float(recorded), float(found), rel_tol=1e-9, abs_tol=1e-12)
    except (TypeError, ValueError):
        return bool(recorded == found)
