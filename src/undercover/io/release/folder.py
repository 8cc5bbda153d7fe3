"""The release folder: ``public/`` for the world, ``private/`` (0700) for the holder.

What must not be published lies in ``withheld/`` (0700) in place of ``public/`` until somebody accepts it.

A folder appears whole or not at all (:mod:`undercover.whole`): an exception, Ctrl-C included, leaves nothing of it, a
kill a hidden sibling that the next run to the same place removes. With ``force`` a release of ours is replaced, and
nothing else (:mod:`undercover.io.release.ours`). Files of the holder are 0600, whatever the process's mask.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from undercover import plugins
from undercover.errors import DataError, InternalError, OutputError, ParameterError, listed, unwritable
from undercover.io.parquet import SLICE, read_parquet, write_parquet, write_slices
from undercover.io.plain import as_json
from undercover.io.release.contents import DATASHEET, MANIFEST, PRIVATE, PUBLIC, WITHHELD, public_part
from undercover.io.release.manifest import Public, read_public, without_seed, write_tables
from undercover.io.release.ours import strange
from undercover.io.release.run_file import read_run
from undercover.io.release.tables import check_installed
from undercover.io.residue.cells import find_rows_in_cells
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
from undercover.whole import check_folder, make_private, whole_folder

_FRAME = re.compile(r"[A-Za-z0-9_-]+")
_RESERVED = ("groups",)
Around = Callable[[Path], AbstractContextManager[Any]]
"""Within which a folder takes its place; given where its tables lie until then."""


class Looked(NamedTuple):
    """What is kept of a release whose public files were looked at before anybody sees them."""

    verdict: Verdict
    report: str
    summary: Mapping[str, Any]
    kept: Mapping[str, bytes] | None


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
    look: Callable[[Path], Looked] | None = None,
    around: Around | None = None,
) -> Path:
    """Write a run to a new folder, and make those above it; with ``force`` an existing release folder is replaced.

    ``report`` and ``datasheet`` are the HTML pages of holder and recipient; ``summary``, what the report says with
    every figure unrounded, becomes ``private/report.json``. ``sign`` is the file of a private key; the ``verdict`` is
    kept with the run, and where it says not to publish, the tables are withheld: they lie in ``withheld``, for the
    holder alone. ``kept`` are further private files, by their names. ``look`` is shown the public files as they are
    written, and says instead what is kept with them and whether they are withheld. A table of more than
    ``rows_per_file`` rows is written in parts. Within ``around`` the written folder takes its place. The manifest
    hashes every public file, and the private run keeps what the manifest says: the two are bound to each other.
    """
    if format not in FORMATS:
        raise ParameterError(f"The format of a release must be one of {listed(FORMATS)}. Got {format!r} instead.")
    check_installed(format)
    Files(format, rows_per_file)
    _check_public(run, datasheet)
    key = None if sign is None else private_key(sign)
    part = WITHHELD if verdict is not None and verdict.withheld else PUBLIC
    with _new_folder(Path(directory), part, around, force=force) as folder:
        public = folder / part
        release = run.release if run.release.version else replace(run.release, version=VERSION)
        if datasheet is not None:
            (public / DATASHEET).write_text(datasheet, encoding="utf-8")
        manifest = write_tables(release, public, format=format, said=run.schema.said, rows_per_file=rows_per_file)
        if key is not None:
            write_signature(public, key)
        if look is not None:
            verdict, report, summary, kept = look(public)
            if verdict.withheld and part == PUBLIC:
                public.chmod(0o700)
                make_private(public.rename(folder / WITHHELD))
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


def load_both(directory: str | os.PathLike[str], *, strict: bool = False) -> tuple[Run, Public]:
    """A run and its public part, which must be as the run wrote it; where it is not, its problems say so."""
    place = Path(directory)
    path = place / PRIVATE / "run.json"
    if not path.is_file():
        raise DataError(f"There is no private/run.json in `{place}`. Give the folder that was written by publish.")
    content, schema, judged = read_run(path)
    method = (content["method"]["name"], without_seed(content["method"]["parameters"]))
    public = read_public(public_part(place), strict=strict)
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
        self_test=content.get("self_test", {}),
        frames={name: read_parquet(place / PRIVATE / f"{name}.parquet") for name in content["frames"]},
        warnings=tuple(content["warnings"]),
        requirements=tuple(content.get("requirements", ())),
        recipe=content["recipe"],
        policy=STANDARD if judged is None else judged.policy,
        judged=judged,
        made=content.get("made", ""),
        engine=content.get("engine", {}),
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
    lists = find_rows_in_cells(run.release.tables).problems
    if lists:
        raise DataError(
            [*lists, "No verifier would accept such a release. Drop the column, or write its cells shorter."]
        )
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
        "engine": run.engine,
        "groups": run.groups.count,
        "diagnostics": run.diagnostics,
        "self_test": run.self_test,
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
def _new_folder(target: Path, part: str, around: Around | None, *, force: bool) -> Iterator[Path]:
    """A folder with ``part`` and ``private`` to write into, which becomes ``target`` when the block ends well."""
    place = check_folder(target, force=force, strange=strange)
    try:
        within: Around = lambda made: nullcontext() if around is None else around(made / part)  # noqa: E731
        with whole_folder(place, within, force=force) as made:
            (made / part).mkdir()
            usual = (made / part).stat().st_mode & 0o777
            hidden = [PRIVATE, *([WITHHELD] if part == WITHHELD else [])]
            for name in hidden:
                (made / name).mkdir(mode=0o700, exist_ok=True)
                (made / name).chmod(0o700)
            yield made
            for name in hidden:
                make_private(made / name)
            made.chmod(usual)
    except (OSError, OutputError) as error:
        cause = error.__cause__ if isinstance(error, OutputError) else error
        if not isinstance(cause, OSError):
            raise
        raise OutputError(f"{unwritable(f'The release in `{target}`', cause)} Nothing was left behind.") from error
