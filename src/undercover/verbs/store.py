"""Save a run, load it back, and find the table it was made from."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from undercover.errors import DataError, SchemaError
from undercover.io.place import is_there
from undercover.io.release import folder
from undercover.io.release.tables import as_read_back
from undercover.io.source import ReadOptions, read
from undercover.memory import Store
from undercover.model.formats import Files, Format
from undercover.model.release import Release
from undercover.model.run import Run
from undercover.model.schema import Schema
from undercover.model.table import Table
from undercover.randomness import Randomness
from undercover.verbs.encode import encoded
from undercover.verbs.same_table import check_same_table
from undercover.waiting import Progress, teller, telling
from undercover.wording import either, option


@telling
def save(
    run: Run,
    directory: str | os.PathLike[str],
    *,
    format: Format = "csv",  # noqa: A002
    force: bool = False,
    summary: Mapping[str, Any] | None = None,
    sign: str | os.PathLike[str] | None = None,
    accept: str | None = None,
    by: str | None = None,
    rows_per_file: int | None = None,
    safe_for_spreadsheets: bool = False,
    progress: Progress | bool = False,
) -> Path:
    """Write a run to ``directory/public`` and ``directory/private``, whole or not at all.

    Where the verdict says not to publish, the tables are withheld: they are written to ``directory/withheld`` until
    somebody accepts them (:func:`undercover.accept`). ``accept`` does so at once: it says why, and ``by`` who.
    ``summary`` is what :func:`summarize` returned, where it was called before; ``sign`` the file of a private key
    with which the manifest is signed (:func:`undercover.new_key` makes one). The public files are looked at as they
    are written, before anybody sees them (``run.scan``): what must not be in them is withheld, and nobody can
    accept it. A table of more than ``rows_per_file`` rows, ten million by default, is written in parts,
    ``table-00000.csv`` and so on, as CSV and Parquet. ``progress=True`` shows on stderr how far it is.

    Examples
    --------
    >>> import tempfile, undercover as uc
    >>> schema = uc.Schema(quasi_identifiers=["age"], sensitive="income")
    >>> run = uc.publish(uc.datasets.census(1000), schema, uc.Mondrian(k=10))
    >>> with tempfile.TemporaryDirectory() as place:
    ...     sorted(path.name for path in (uc.save(run, Path(place, "out")) / "public").iterdir())
    ['datapackage.json', 'datasheet.html', 'release.json', 'table.csv']
    """
    from undercover.pages.again import again
    from undercover.pages.chart_process import start_drawing
    from undercover.pages.datasheet import datasheet_summary
    from undercover.pages.render import datasheet_html, report_html
    from undercover.scanning.scan import scan
    from undercover.verbs.accept import decided, decider
    from undercover.verbs.beside import judged_beside
    from undercover.verbs.ledger import entered, kept_entry
    from undercover.verbs.report import DRAWING, summarize

    by = by if accept is None else decider(accept, by)
    start_drawing()
    files = Files(format, rows_per_file, safe_for_spreadsheets)
    tell = teller(progress)
    given, run = run, judged_beside(run, directory, tell)
    before = run.verdict.before_written
    facts = summarize(run, progress=tell) if summary is None else summary
    sheet = datasheet_html(datasheet_summary(as_read_back(run.release), run.schema.said, file_format=files))
    tell("writing", 0.0)

    def look(public: Path) -> folder.Looked:
        tell("looking at what is published", 0.0)
        found = scan(run, public, Path(directory), files)
        verdict = replace(before, reasons=(*found.reasons(), *before.reasons))
        given.saved(verdict, found)
        tell(DRAWING, 0.0)
        said = {**facts, **verdict.to_dict(), "meaning": verdict.meaning, "scan": found.to_dict()}
        said["again"] = again(run, folder=directory, file_format=files)
        return folder.Looked(verdict, report_html(said), said, kept_entry(run) if verdict.withheld else None)

    def around(tables: Path) -> AbstractContextManager[None]:
        return nullcontext() if given.verdict.withheld else entered(run, directory, tables)

    place = folder.save(
        run,
        directory,
        format=cast(Format, files),
        force=force,
        datasheet=sheet,
        sign=sign,
        verdict=before,
        rows_per_file=rows_per_file,
        look=look,
        around=around,
    )
    if before.withheld and not given.scan.leaks and accept is not None and by is not None:
        decided(place, accept, by)
    return place


def load(directory: str | os.PathLike[str]) -> Run:
    """Read a run back from the folder it was saved to; the original table is not part of it.

    >>> import tempfile, undercover as uc
    >>> example = uc.datasets.hospital("cross-bucket")
    >>> run = uc.publish(example.table, example.schema, uc.Anatomy(l=4), policy="none")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     load(uc.save(run, Path(folder, "out"))).groups.count == run.groups.count
    True
    """
    return folder.load_run(directory)


def original_of(run: Run, original: Any = None, schema: Schema | None = None) -> Table:
    """The original table of a run: in memory, as given, or where it was read from; no other table is taken for it.

    ``schema`` is that of the run, unless another is given.
    """
    options = ReadOptions(**run.source.get("options", {}))
    drawn, store = Randomness(run.source.get("one_row")), Store()
    if original is not None:
        given = original if isinstance(original, Table) else read(original, options=options, store=store)
        check_same_table(run, given)
        if isinstance(given, Table):
            return given
        return encoded(given.data, schema or _as_it_was(run), drawn, store=store)
    if run.original is not None:
        return run.original
    path = run.source.get("path")
    if path is None:
        raise DataError(f"The run does not know where its original table is. Give it: {option(original=...)}")
    if "://" not in path and not is_there(path):
        raise DataError(f"The original table is no longer at `{path}`. Say where it is: {option(original=...)}")
    given = read(path, options=options, store=store)
    if run.source.get("sha256") != given.source.get("sha256"):
        raise DataError(f"`{path}` has changed since the release was made. Give the original: {option(original=...)}")
    check_same_table(run, given)
    return encoded(given.data, run.schema, drawn, store=store)


def _as_it_was(run: Run) -> Schema:
    """The schema of a run with the kinds its columns turned out to have, whatever they are read from now."""
    kinds = run.source.get("kinds", {})
    known = {name: replace(run.schema.column(name), kind=kinds[name]) for name in run.schema.published if name in kinds}
    return replace(run.schema, columns={**run.schema.columns, **known})


def schema_of(release: Release) -> Schema:
    """The roles of a release's columns, for a table nobody has said more about."""
    columns = [column for table in release.tables for column in table.columns]
    roles: dict[str, list[str]] = {"quasi-identifier": [], "sensitive": [], "insensitive": []}
    for column in columns:
        if column.role in roles and column.name not in roles[column.role]:
            roles[column.role].append(column.name)
    if any(column.form == "node" for column in columns):
        raise SchemaError(
            "This release publishes hierarchy nodes; their meaning is in the schema. Give it: "
            + either(python="schema=…", command="--spec …")
        )
    return Schema(
        quasi_identifiers=roles["quasi-identifier"],
        sensitive=roles["sensitive"],
        insensitive=roles["insensitive"],
        missing="category",
    )


def table_of(
    original: Any,
    schema: Schema | None,
    release: Release,
    options: ReadOptions | None = None,
    *,
    one_row: Randomness | None = None,
) -> Table:
    """The original table, encoded, whatever it was given as."""
    if isinstance(original, Table):
        return original
    store = Store()
    return encoded(
        read(original, options=options, store=store).data, schema or schema_of(release), one_row, store=store
    )
