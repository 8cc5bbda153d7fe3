"""``undercover verify``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from undercover.cli.options import Json, Original, Qi, Require, Sensitive, SpecFile, roles
from undercover.cli.output import console, print_json, print_view
from undercover.cli.reading import read_with_spec, with_text
from undercover.errors import DataError, ParameterError
from undercover.guarantees.requirements import guarantees_from_entries, guarantees_from_requirements
from undercover.guarantees.verify import Verification, verify_table
from undercover.io.database import is_database_url
from undercover.io.place import place_of
from undercover.io.release.contents import PUBLIC, is_withheld, public_part
from undercover.io.source import ReadOptions, read
from undercover.io.spec.load import Spec, load_spec
from undercover.model.schema import Column
from undercover.verbs.store import load
from undercover.verbs.verify import verify

FAILED = 4
NOTHING_CHECKED = 6
"""Exit codes: something does not hold; nothing is promised, or nothing of it can be checked from what is here."""


def command(
    target: Annotated[str, typer.Argument(help="DIR/public, DIR, or a table nobody here made.")],
    qi: Qi = None,
    sensitive: Sensitive = None,
    require: Require = None,
    original: Original = None,
    spec: SpecFile = None,
    trusted_by: Annotated[
        Path | None, typer.Option("--trusted-by", help="A public key: the release must be signed by it.")
    ] = None,
    allow_old: Annotated[
        bool, typer.Option("--allow-old", help="Accept an old layout, which says less of itself; else exit code 4.")
    ] = False,
    json: Json = False,
) -> None:
    """Verify a release folder or a single table; exit code 4 if anything does not hold, 6 if nothing can be checked."""
    asked = require or []
    elsewhere = public_part(Path(target).parent)
    if Path(target).name == PUBLIC and not Path(target).exists() and elsewhere.is_dir() and is_withheld(elsewhere):
        raise DataError(f"There is no `{target}`: the release is withheld. Verify `{elsewhere}`, or accept it first.")
    if not (Path(target).is_dir() or is_database_url(target)):
        place_of(target)  # that there is nothing is said before anything else that is lacking
    if Path(target).is_dir():
        found = _folder(Path(target), asked, original, spec, trusted_by, allow_old=allow_old)
    else:
        for name, given in (("--original", original), ("--trusted-by", trusted_by), ("--allow-old", allow_old)):
            if given not in (None, False):
                raise ParameterError(f"{name} belongs to a release folder. For a single table leave it out.")
        found = _file(target, roles(qi=qi, sensitive=sensitive), asked, spec)
    if json:
        print_json(found.to_dict())
    else:
        print_view(found.view())
        word, style = _word(found)
        if found.holds and is_withheld(target):
            word, style = f"{word}; withheld, not published", "bold yellow"
        console().print(word, style=style)
    if found.holds is not True:
        raise typer.Exit(FAILED if found.holds is False else NOTHING_CHECKED)


def _word(found: Verification) -> tuple[str, str]:
    """The last word, and its style: never that something was verified where nothing was."""
    if found.holds is None:
        return f"NOT VERIFIED: {found.said}", "bold red"
    if not found.holds:
        return "VERIFICATION FAILED", "bold red"
    if all(finding.holds is None for finding in found.promises):
        return "nothing fails; what was promised needs the private run", "bold"
    if found.old:
        return "verified as far as an OLD RELEASE can be: see what it does not tell", "bold yellow"
    return "verified", "bold"


def _folder(
    folder: Path,
    require: Sequence[str],
    original: str | None,
    spec: Path | None,
    trusted_by: Path | None,
    *,
    allow_old: bool,
) -> Verification:
    columns = _known_columns(folder, spec) if require else {}
    also = guarantees_from_requirements(require, columns=columns)
    if original is None:
        return verify(folder, also=also, trusted_by=trusted_by, allow_old=allow_old)
    if spec is None:
        return verify(folder, also=also, original=original, trusted_by=trusted_by, allow_old=allow_old)
    given, schema, _, _ = read_with_spec(original, spec, {})
    return verify(folder, also=also, original=given, schema=schema, trusted_by=trusted_by, allow_old=allow_old)


def _file(
    target: str, given: Mapping[str, tuple[str, ...]], require: Sequence[str], spec_path: Path | None
) -> Verification:
    spec = None if spec_path is None else load_spec(spec_path)
    quasi = given.get("quasi_identifiers") or (spec.schema.quasi_identifiers if spec else ())
    sensitive = given.get("sensitive") or (spec.schema.sensitive if spec else ())
    asked = [*require, *(spec.requirements if spec else ())]
    problems = []
    if not quasi:
        problems.append("Say which columns an attacker may know: --qi age,sex,zip.")
    if not asked:
        problems.append("Say what must hold: --require k=5 --require l=3.")
    if problems:
        raise ParameterError(problems)
    columns = _settings(spec, sensitive)
    guarantees = [
        *guarantees_from_requirements(require, columns=columns),
        *guarantees_from_entries(spec.requirements if spec else (), columns),
    ]
    options = with_text(spec.options if spec else ReadOptions(), [*quasi, *sensitive])
    return verify_table(read(target, options=options).data, quasi, sensitive, guarantees)


def _known_columns(folder: Path, spec: Path | None) -> dict[str, Column]:
    """What a spec, or else the private run, says of the sensitive columns."""
    if spec is not None:
        loaded = load_spec(spec)
        return _settings(loaded, loaded.schema.sensitive)
    if not (folder / "private").is_dir():
        return {}
    schema = load(folder).schema
    return {name: schema.column(name) for name in schema.sensitive}


def _settings(spec: Spec | None, sensitive: Sequence[str]) -> dict[str, Column]:
    """Settings of the sensitive columns. Their hierarchies are those of files: a recipe would need the original."""
    return {} if spec is None else {name: spec.schema.column(name) for name in sensitive}
