"""The release folder: ``public/`` for the world, ``private/`` (0700) for the holder.

What must not be published lies in ``withheld/`` (0700) in place of ``public/`` until somebody accepts it.

A folder appears whole or not at all. Everything is written into a hidden sibling, synced to the disk and renamed.
An exception, Ctrl-C included, removes the sibling; a kill leaves it behind, never a half-written folder, and the next
run to the same place removes it once the process that made it (its number is in the name) is gone. With ``force`` the
old folder is moved aside first and deleted only when the new one stands; if a kill comes between the two, the next
run puts the old one back.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from undercover import plugins
from undercover.errors import DataError, InternalError, OutputError, ParameterError, listed
from undercover.io.parquet import SLICE, read_parquet, write_parquet, write_slices
from undercover.io.plain import as_json
from undercover.io.release.contents import DATASHEET, MANIFEST, PRIVATE, PUBLIC, WITHHELD, public_part
from undercover.io.release.manifest import Public, read_public, without_seed, write_tables
from undercover.io.release.run_file import read_run
from undercover.io.release.tables import check_installed
from undercover.io.signatures import private_key, write_signature
from undercover.io.spec.load import schema_to_mapping
from undercover.io.spec.write import spec_files
from undercover.model.formats import FORMATS, Files, Format
from undercover.model.groups import Groups
from undercover.model.policy import STANDARD
from undercover.model.release import Release
from undercover.model.run import Run
from undercover.model.schema import Schema
from undercover.model.verdict import Verdict
from undercover.version import VERSION
from undercover.wording import option

_FRAME = re.compile(r"[A-Za-z0-9_-]+")
_RESERVED = ("groups",)


def save(
    run: Run,
    directory: str | os.PathLike[str],
    *,
    format: Format = "csv",  # noqa: A002
    force: bool = False,
    report: str | None = None,
    summary: Mapping[str, Any] | None = None,
    datasheet: str | None = None,
    sign: str | os.PathLike[str] | None = None,
    verdict: Verdict | None = None,
    kept: Mapping[str, bytes] | None = None,
    rows_per_file: int | None = None,
) -> Path:
    """Write a run to a new folder, whose parent must exist; with ``force`` an existing release folder is replaced.

    ``report`` and ``datasheet`` are the HTML pages of holder and recipient; ``summary``, what the report says with
    every figure unrounded, becomes ``private/report.json``. ``sign`` is the file of a private key; the ``verdict`` is
    kept with the run, and where it says not to publish, the tables are withheld: they lie in ``withheld``, for the
    holder alone. ``kept`` are further private files, by their names. A table of more than ``rows_per_file`` rows is
    written in parts. The manifest hashes every public file, and the private run keeps what the manifest says: the two
    are bound to each other.
    """
    if format not in FORMATS:
        raise ParameterError(f"The format of a release must be one of {listed(FORMATS)}. Got {format!r} instead.")
    check_installed(format)
    Files(format, rows_per_file)
    _check_public(run, datasheet)
    key = None if sign is None else private_key(sign)
    part = WITHHELD if verdict is not None and verdict.withheld else PUBLIC
    with _whole_folder(Path(directory), part, force=force) as folder:
        public = folder / part
        release = run.release if run.release.version else replace(run.release, version=VERSION)
        if datasheet is not None:
            (public / DATASHEET).write_text(datasheet, encoding="utf-8")
        manifest = write_tables(release, public, format=format, said=run.schema.said, rows_per_file=rows_per_file)
        if key is not None:
            write_signature(public, key)
        _write_private(run, folder / PRIVATE, report, manifest, verdict)
        if summary is not None:
            (folder / PRIVATE / "report.json").write_text(as_json(summary), encoding="utf-8")
        for name, content in (kept or {}).items():
            (folder / PRIVATE / name).write_bytes(content)
    return Path(directory)


def load_run(directory: str | os.PathLike[str]) -> Run:
    """Read a run back, ``private/`` and ``public/`` together; the original table is not part of it.

    Where the public tables differ from their manifest, the warnings of the run say so. For an example see
    :func:`save`.
    """
    run, problems = load_checked(directory)
    return replace(run, warnings=(*run.warnings, *problems))


def load_checked(directory: str | os.PathLike[str]) -> tuple[Run, list[str]]:
    """The same, with what is wrong with the public folder apart: changed files, anything else than the run wrote."""
    run, public = load_both(directory)
    return run, public.problems


def load_both(directory: str | os.PathLike[str]) -> tuple[Run, Public]:
    """A run and its public part, which must be as the run wrote it; where it is not, its problems say so."""
    place = Path(directory)
    path = place / PRIVATE / "run.json"
    if not path.is_file():
        raise DataError(f"There is no private/run.json in `{place}`. Give the folder that was written by publish.")
    content, schema, judged = read_run(path)
    method = (content["method"]["name"], without_seed(content["method"]["parameters"]))
    public = read_public(public_part(place))
    release = public.release
    if (place / PUBLIC).is_dir() and (place / WITHHELD).exists():
        public.problems.append(f"`{WITHHELD}` lies beside `{PUBLIC}`; a release is one or the other.")
    if "release" in content:
        public.problems.extend(_differing(content["release"], public.content))
    elif method != (release.method, release.parameters):
        public.problems.append("`release.json` names another method or other parameters than `private/run.json`.")
    public.problems.extend(_other_roles(schema, release))
    grouped = _grouped(place / PRIVATE / "groups.parquet", content["groups"], content["source"].get("rows"))
    run = Run(
        release=release,
        schema=schema,
        groups=Groups(grouped["group"], content["groups"]),
        rows=grouped["row"].astype(np.int64),
        source=content["source"],
        randomness=content["randomness"],
        timings=content["timings"],
        buckets=grouped.get("bucket"),
        diagnostics=content["diagnostics"],
        frames={name: read_parquet(place / PRIVATE / f"{name}.parquet") for name in content["frames"]},
        warnings=tuple(content["warnings"]),
        requirements=tuple(content.get("requirements", ())),
        recipe=content["recipe"],
        policy=STANDARD if judged is None else judged.policy,
        judged=judged,
        made=content.get("made", ""),
    )
    return run, replace(public, recorded=content.get("release"))


def _grouped(path: Path, groups: int, rows: int | None) -> dict[str, Any]:
    """What :func:`_group_table` says of the rows that are in a group; nobody looks at numbers again after this."""
    table = read_parquet(path)
    whole = all(pa.types.is_signed_integer(column.type) for column in table.columns)
    if whole and {"row", "group"} <= set(table.column_names):
        table = table.filter(table.column("group").is_valid()) if table.column("group").null_count else table
        found = {name: table.column(name).to_numpy() for name in table.column_names}
        most = {"row": 2**62 if rows is None else rows, "group": groups}
        if not any(column.null_count for column in table.columns) and all(
            not len(one) or (one.min() >= 0 and one.max() < most.get(name, 2**31)) for name, one in found.items()
        ):
            return {name: one if name == "row" else one.astype(np.int32, copy=False) for name, one in found.items()}
    raise DataError(f"`{path}` does not say which row is in which group. It is damaged; take it from a backup.")


def _differing(written: Any, found: Mapping[str, Any]) -> Iterator[str]:
    """Where a manifest says something else than the run wrote: method, claims, form, columns, hashes of files."""
    wrote = written if isinstance(written, Mapping) else {}
    for name in dict.fromkeys([*wrote, *found]):
        if wrote.get(name) != found.get(name):
            yield f"`{name}` in {MANIFEST} is not what the private run wrote: it was changed afterwards."


def _other_roles(schema: Schema, release: Release) -> Iterator[str]:
    """Columns that are published in another role than the run's schema gives them, or in none of it."""
    roles = {
        "quasi-identifier": schema.quasi_identifiers,
        "sensitive": schema.sensitive,
        "insensitive": schema.insensitive,
        "identifier": schema.identifiers,
    }
    own = {name: role for role, names in roles.items() for name in names}
    for name, role in dict.fromkeys((column.name, column.role) for table in release.tables for column in table.columns):
        if role != "structure" and own.get(name) != role:
            had = f"it was {own[name]}" if name in own else "it had no role and is not to be published"
            yield f"Column `{name}` is published as {role}; in the private run {had}."


def _check_public(run: Run, datasheet: str | None) -> None:
    """The last look before anything is written: no identifier column and no seed may reach the public folder."""
    published = {column.name for table in run.release.tables for column in table.columns}
    leaked = published & set(run.schema.identifiers)
    if leaked:
        raise InternalError(f"Identifiers are about to be published: {sorted(leaked)}.")
    seed = run.randomness.get("seed")
    texts = [*run.release.warnings, datasheet or "", json.dumps(run.schema.said)]
    if seed is not None and any(re.search(rf"(?i)\bseed\b\W{{0,5}}(?:is |of )?{seed}\b", text) for text in texts):
        raise InternalError("The seed is about to be published.")


def _write_private(
    run: Run, folder: Path, report: str | None, manifest: Mapping[str, Any], verdict: Verdict | None
) -> None:
    bad = [name for name in run.frames if not _FRAME.fullmatch(name) or name in _RESERVED]
    if bad:
        raise InternalError(f"Names that cannot be files of a run: {bad}.")
    content: dict[str, Any] = {
        "method": {"name": run.release.method, "parameters": run.release.parameters},
        "recipe": run.recipe,
        "release": manifest,
        "origin": _origins(run),
        "schema": schema_to_mapping(run.schema),
        "requirements": list(run.requirements),
        "source": run.source,
        "randomness": run.randomness,
        "made": run.made,
        "timings": run.timings,
        "groups": run.groups.count,
        "diagnostics": run.diagnostics,
        "frames": list(run.frames),
        "warnings": list(run.warnings),
        **({} if verdict is None else {"judged": verdict.to_dict()}),
    }
    (folder / "run.json").write_text(as_json(content), encoding="utf-8")
    write_slices(_group_table(run), folder / "groups.parquet", numbers=True)
    for name, frame in run.frames.items():
        write_parquet(frame, folder / f"{name}.parquet")
    for name, text in spec_files(run).items():
        (folder / name).write_text(text, encoding="utf-8")
    if report is not None:
        (folder / "report.html").write_text(report, encoding="utf-8")


def _origins(run: Run) -> dict[str, Any]:
    """Who offers what made the release, what reads it, and what attacks it."""
    method, form = run.release.method, run.release.form.name
    made_by = type(run.method) if run.method else None
    own = made_by is not None and (
        method not in plugins.names("methods") or plugins.load("methods", method) is not made_by
    )
    return {
        "method": f"{made_by.__module__}.{made_by.__qualname__}" if own and made_by else _origin("methods", method),
        "form": _origin("forms", form),
        "attacks": {name: _origin("attacks", name) for name in plugins.names("attacks")},
    }


def _origin(kind: str, name: str) -> str:
    return plugins.origin(kind, name) if name in plugins.names(kind) else "not installed"


def _group_table(run: Run) -> Iterator[pa.Table]:
    """One row per input row, in slices; those that were left out for a missing value come last and have no group."""
    kept = len(run.rows)
    total = max(kept, run.source.get("rows") or 0)
    wide = np.int32 if total < 1 << 31 else np.int64
    labels = {"group": run.groups.labels, **({} if run.buckets is None else {"bucket": run.buckets})}
    for start in range(0, max(kept, 1), SLICE):
        here = slice(start, start + SLICE)
        columns = {name: pa.array(one[here], pa.int32()) for name, one in labels.items()}
        yield pa.table({"row": run.rows[here].astype(wide), **columns})
    if kept < total:
        missing = np.ones(total, dtype=bool)
        missing[run.rows] = False
        left_out = np.flatnonzero(missing).astype(wide)
        yield pa.table({"row": left_out, **{name: pa.nulls(len(left_out), pa.int32()) for name in labels}})


@contextmanager
def _whole_folder(target: Path, part: str, *, force: bool) -> Iterator[Path]:
    """A folder with ``part`` and ``private`` to write into, which becomes ``target`` when the block ends well."""
    place = Path(os.path.abspath(target))
    try:
        _check_place(target, place)
        _clear_away(place)
        if os.path.lexists(place):
            _check_replaceable(target, place, force)
    except OSError as error:
        raise OutputError(f"`{target}` cannot be used: {error.strerror or error}.") from error
    mark = f"{os.getpid()}-{secrets.token_hex(4)}"
    temporary, aside = place.with_name(f".{place.name}.tmp-{mark}"), place.with_name(f".{place.name}.old-{mark}")
    try:
        temporary.mkdir(mode=0o700)
        (temporary / part).mkdir()
        usual = (temporary / part).stat().st_mode & 0o777
        (temporary / PRIVATE).mkdir(mode=0o700)
        for private in (PRIVATE, *([WITHHELD] if part == WITHHELD else [])):
            (temporary / private).chmod(0o700)
        yield temporary
        _sync_all(temporary)
        temporary.chmod(usual)
        if force and os.path.lexists(place):
            place.rename(aside)
        temporary.rename(place)
        sync(place.parent)
    except BaseException as error:
        if os.path.lexists(aside) and not os.path.lexists(place):
            aside.rename(place)
        for leftover in (temporary, aside):
            shutil.rmtree(leftover, ignore_errors=True)
        cause = error.__cause__ if isinstance(error, OutputError) else error
        if isinstance(cause, OSError):
            raise OutputError(
                f"The release cannot be written to `{target}`: {cause.strerror or cause}. Nothing was left behind."
            ) from error
        raise
    shutil.rmtree(aside, ignore_errors=True)


def _check_place(target: Path, place: Path) -> None:
    if not place.name:
        raise OutputError(f"`{target}` cannot be a release folder. Name a new one.")
    if not place.parent.is_dir():
        raise OutputError(f"The folder `{target.parent}` in which `{place.name}` is to be made does not exist.")


def _check_replaceable(target: Path, place: Path, force: bool) -> None:
    if not force:
        raise OutputError(f"`{target}` already exists. Choose another folder, or replace it: {option(force=True)}.")
    known = {PUBLIC, WITHHELD, PRIVATE}
    if not place.is_dir() or place.is_symlink() or {entry.name for entry in place.iterdir()} - known:
        raise OutputError(f"`{target}` is not a release folder and is not replaced. Remove it yourself.")


def _clear_away(place: Path) -> None:
    """Remove what a killed run to the same place left behind; put back what it had moved aside."""
    pattern = re.compile(rf"\.{re.escape(place.name)}\.(tmp|old)-(\d+)-[0-9a-f]+")
    for entry in sorted(os.listdir(place.parent)):
        match = pattern.fullmatch(entry)
        if match is None or _alive(int(match[2])):
            continue
        leftover = place.with_name(entry)
        if match[1] == "old" and not os.path.lexists(place):
            leftover.rename(place)
        else:
            shutil.rmtree(leftover, ignore_errors=True)


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True


def _sync_all(folder: Path) -> None:
    for parent, _, files in os.walk(folder):
        for file in files:
            sync(Path(parent, file))
        sync(Path(parent))


def sync(path: Path) -> None:
    """Wait until a file or folder is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
