"""``undercover verify``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import typer

from undercover import api
from undercover.cli.inputs import read_with_spec, with_text
from undercover.cli.output import console, print_json, print_table
from undercover.errors import ParameterError
from undercover.guarantees import (
    Verification,
    guarantee_from_mapping,
    guarantees_from_requirements,
    verify_table,
)
from undercover.guarantees.finding import shown
from undercover.io.config import load_spec
from undercover.io.source import ReadOptions, read


def run(
    target: str,
    *,
    roles: Mapping[str, tuple[str, ...]],
    require: Sequence[str],
    original: str | None,
    spec: Path | None,
    as_json: bool,
) -> None:
    """Verify a release folder or a single table; exit code 4 if anything does not hold."""
    if Path(target).is_dir():
        found = _folder(Path(target), require, original, spec)
    else:
        if original is not None:
            raise ParameterError("--original belongs to a release folder. For a single table leave it out.")
        found = _file(target, roles, require, spec)
    if as_json:
        print_json(found.to_dict())
    else:
        _print(found)
    if not found.holds:
        raise typer.Exit(4)


def _folder(folder: Path, require: Sequence[str], original: str | None, spec: Path | None) -> Verification:
    also = guarantees_from_requirements(list(require))
    if original is None:
        return api.verify(folder, also=also)
    if spec is None:
        return api.verify(folder, also=also, original=original)
    given, schema, _, _ = read_with_spec(original, spec, {})
    return api.verify(folder, also=also, original=given, schema=schema)


def _file(
    target: str, roles: Mapping[str, tuple[str, ...]], require: Sequence[str], spec_path: Path | None
) -> Verification:
    spec = None if spec_path is None else load_spec(spec_path)
    quasi = roles.get("quasi_identifiers") or (spec.schema.quasi_identifiers if spec else ())
    sensitive = roles.get("sensitive") or (spec.schema.sensitive if spec else ())
    guarantees = list(guarantees_from_requirements(list(require)))
    if spec is not None:
        guarantees += [guarantee_from_mapping(entry) for entry in spec.requirements]
    problems = []
    if not quasi:
        problems.append("Say which columns an attacker may know: --qi age,sex,zip.")
    if not guarantees:
        problems.append("Say what must hold: --require k=5 --require l=3.")
    if problems:
        raise ParameterError(problems)
    options = with_text(spec.options if spec else ReadOptions(), [*quasi, *sensitive])
    return verify_table(read(target, options=options).data, quasi, sensitive, guarantees)


def _print(found: Verification) -> None:
    screen = console()
    word = {True: "holds", False: "DOES NOT HOLD", None: "needs the private run"}
    rows = [
        [
            finding.name,
            ", ".join(f"{key}={value}" for key, value in finding.parameters.items() if key in ("form", "column", "c")),
            shown(finding.required, None),
            finding.shown(),
            word[finding.holds],
            f"{finding.violating_classes:,}" if finding.holds is False else "",
            f"{finding.violating_rows:,}" if finding.holds is False else "",
        ]
        for finding in found.findings
    ]
    columns = ["guarantee", "", "asked", "found", "", "classes against it", "rows"]
    private = any(finding.needs == "private" and finding.holds is not None for finding in found.findings)
    whence = "the published tables, and from the private run what these cannot show" if private else (
        "the published tables alone"
    )  # fmt: skip
    print_table(screen, f"Recomputed from {whence}", columns, rows, left=2)
    for problem in found.problems:
        screen.print(f"problem: {problem}")
    for finding in found.failures:
        if finding.note:
            screen.print(f"{finding.name}: {finding.note}")
        if finding.examples:
            screen.print(f"worst against {finding.name}:")
            for example in finding.examples[:5]:
                screen.print("  " + ", ".join(f"{key}={value}" for key, value in example.items()))
    screen.print(
        "verified" if found.holds else "VERIFICATION FAILED", style="bold green" if found.holds else "bold red"
    )
