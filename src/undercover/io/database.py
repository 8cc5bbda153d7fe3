"""Tables in databases, named by a URL.

=============================================  ========================================================
``duckdb:///people.db?table=t``                 a DuckDB file beside the working directory
``duckdb:////data/people.db?query=SELECT …``    an absolute path; the result of a query
``sqlite:///people.db?table=t``                 a SQLite file
``postgres://user@host/name?table=t``           a PostgreSQL server
=============================================  ========================================================

Connections are read-only and nothing is downloaded. SQLite goes through DuckDB's ``sqlite`` extension where that is
installed, and through Python's own ``sqlite3`` otherwise, so it works without either. PostgreSQL needs DuckDB's
``postgres`` extension. A query must be a single SELECT, and stands last in the URL.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa

from undercover.errors import DataError, MissingExtraError, listed, unknown
from undercover.io.coded.columns import Tell, gathered
from undercover.io.csv.typed import Written, dated
from undercover.memory import Store
from undercover.model.frames.exact import exact_cells

SCHEMES = ("duckdb", "sqlite", "postgres", "postgresql")
_BATCH = 50_000
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`")
_NO_ARROW = ("UHUGEINT", "BIGNUM", "VARINT")  # numbers that go wrong on their way out of DuckDB where they are long


def is_database_url(source: str) -> bool:
    """Whether a source names a database."""
    return source.partition("://")[0] in SCHEMES and "://" in source


def without_password(url: str) -> str:
    """A URL as it may be shown and recorded."""
    hidden = re.sub(r"^(\w+://[^:/?@]*):[^/?]*@", r"\1:***@", url)
    return re.sub(r"(?i)([?&]password=)[^&]*", r"\1***", hidden)


def file_of(url: str) -> str | None:
    """The file of a database that is one; a URL that says too little is refused.

    >>> file_of("sqlite:///people.db?table=t"), file_of("postgres://host/name?table=t")
    ('people.db', None)
    """
    address = _parse(url)
    return address.target if address.scheme in ("duckdb", "sqlite") else None


def read_database(url: str, store: Store | None = None, tell: Tell | None = None, *, sealed: bool = False) -> pa.Table:
    """The values alone of :func:`fetch_database`."""
    return fetch_database(url, store, tell, sealed=sealed).table


def fetch_database(url: str, store: Store | None = None, tell: Tell | None = None, *, sealed: bool = False) -> Written:
    """Read a table, or the result of a query; many rows batch by batch into a ``store``.

    A query of a ``sealed`` database sees nothing else: DuckDB could read any file by one.
    """
    address = _parse(url)
    if address.scheme == "sqlite":
        return _read_sqlite(address, store, tell, sealed)
    duckdb = _duckdb()
    if address.scheme == "duckdb":
        _check_file(address)
        try:
            connection = duckdb.connect(address.target, read_only=True, config=_OFFLINE)
        except duckdb.Error as error:
            raise DataError(f"`{address.target}` cannot be opened as a DuckDB file: {error}") from error
        with connection:
            return Written(_fetch(duckdb, connection, address, None, store, tell, sealed))
    with duckdb.connect(config=_OFFLINE) as connection:
        _load(duckdb, connection, "postgres", "PostgreSQL")
        _attach(duckdb, connection, address, "postgres")
        return Written(_fetch(duckdb, connection, address, "source", store, tell, sealed))


_OFFLINE = {"autoinstall_known_extensions": "false"}


@dataclass(frozen=True)
class _Address:
    scheme: str
    target: str  # a path, or the URL of a server without table and query
    table: str | None
    query: str | None
    shown: str


def _parse(url: str) -> _Address:
    shown = without_password(url)
    scheme, _, rest = url.partition("://")
    location, _, parameters = rest.partition("?")
    table = query = None
    kept = []
    while parameters:
        if parameters.startswith("query="):  # a query may contain & and =, so it takes the rest
            query, parameters = unquote(parameters.removeprefix("query=")), ""
            break
        item, _, parameters = parameters.partition("&")
        if item.startswith("table="):
            table = unquote(item.removeprefix("table="))
        else:
            kept.append(item)
    if bool(table) == bool(query):
        raise DataError(f"`{shown}` must name a table or a query: add ?table=NAME or ?query=SELECT … to it.")
    if scheme in ("duckdb", "sqlite"):
        if kept:
            raise DataError(
                f"`{shown}` has parameters that are not known: {listed(kept)}. There are: `table`, `query`."
            )
        if not location.startswith("/") or location == "/":
            raise DataError(
                f"`{shown}` must have three slashes before a relative path and four before an absolute one, "
                f"such as {scheme}:///people.db?table=t."
            )
        return _Address(scheme, unquote(location[1:]), table, query, shown)
    target = f"{scheme}://{location}" + (f"?{'&'.join(kept)}" if kept else "")
    return _Address(scheme, target, table, query, shown)


def _duckdb() -> Any:
    try:
        import duckdb
    except ImportError as error:
        raise MissingExtraError("duckdb", "sql", "Reading from a database") from error
    return duckdb


def _check_file(address: _Address) -> None:
    if not Path(address.target).is_file():
        raise DataError(f"There is no database file `{address.target}`.")


def _load(duckdb: Any, connection: Any, extension: str, product: str) -> None:
    try:
        connection.execute(f"LOAD {extension}")
    except duckdb.Error as error:
        raise DataError(
            f"Reading from {product} needs DuckDB's extension `{extension}`, which is not installed. Install it once, "
            f"with a network: python -c \"import duckdb; duckdb.execute('INSTALL {extension}')\"."
        ) from error


def _attach(duckdb: Any, connection: Any, address: _Address, extension: str) -> None:
    try:
        connection.execute(f"ATTACH {_literal(address.target)} AS source (TYPE {extension}, READ_ONLY)")
        connection.execute("USE source")
    except duckdb.Error as error:
        message = str(error).replace(address.target, without_password(address.target))
        raise DataError(f"`{address.shown}` cannot be opened: {message}") from None


def _fetch(
    duckdb: Any,
    connection: Any,
    address: _Address,
    catalog: str | None,
    store: Store | None,
    tell: Tell | None,
    sealed: bool = False,
) -> pa.Table:
    if sealed:
        connection.execute("SET enable_external_access = false")
    if address.table is not None:
        here = "current_database()" if catalog is None else _literal(catalog)
        tables = connection.execute(
            f"SELECT table_schema, table_name FROM information_schema.tables WHERE table_catalog = {here} ORDER BY 1, 2"
        ).fetchall()
        query = f"SELECT * FROM {_found(address, tables)}"
    else:
        query = address.query or ""
    try:
        statements = duckdb.extract_statements(query)
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            raise DataError(f"The query of `{address.shown}` must be a single SELECT.")
        found = connection.sql(query)
        if any(str(type_) in _NO_ARROW for type_ in found.types):
            found = found.project(", ".join(map(_as_text, found.columns, map(str, found.types))))
        if store is None:
            return found.to_arrow_table()
        reader = (found.to_arrow_reader if hasattr(found, "to_arrow_reader") else found.fetch_arrow_reader)(store.batch)
        return gathered(reader.schema, reader, store, tell)
    except duckdb.Error as error:
        raise DataError(f"`{address.shown}` cannot be read: {_said(error, address)}") from error


def _said(error: Exception, address: _Address) -> str:
    """What a database says, without the cells it quotes: what is between quotation marks and not in the address."""
    first, own = str(error).partition("\n")[0].rstrip("."), f"{address.table} {address.query}"
    return _QUOTED.sub(lambda piece: piece[0] if piece[0][1:-1] in own else "…", first) + "."


def _found(address: _Address, tables: Sequence[tuple[str, str]]) -> str:
    """The table, quoted; named plainly or with its schema."""
    matches = [(schema, name) for schema, name in tables if address.table in (name, f"{schema}.{name}")]
    if not matches:
        raise DataError(f"`{address.shown}`: " + unknown("Table", str(address.table), [name for _, name in tables]))
    if len(matches) > 1:
        full = [f"{schema}.{name}" for schema, name in matches]
        raise DataError(f"`{address.shown}`: several tables have this name. Name one: {listed(full)}.")
    return ".".join(_quoted(part) for part in matches[0])


def _as_text(name: str, type_: str) -> str:
    """A column for DuckDB, as text where it would hand on other numbers than it holds."""
    return f"CAST({_quoted(name)} AS VARCHAR) AS {_quoted(name)}" if type_ in _NO_ARROW else _quoted(name)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _read_sqlite(address: _Address, store: Store | None, tell: Tell | None, sealed: bool) -> Written:
    _check_file(address)
    try:
        duckdb = _duckdb()
        with duckdb.connect(config=_OFFLINE) as connection:
            _load(duckdb, connection, "sqlite", "SQLite")
            _attach(duckdb, connection, address, "sqlite")
            return Written(_fetch(duckdb, connection, address, "source", store, tell, sealed))
    except MissingExtraError:
        pass
    except DataError as error:
        if "INSTALL sqlite" not in str(error):
            raise
    return _read_sqlite_plainly(address)


def _read_sqlite_plainly(address: _Address) -> Written:
    connection = sqlite3.connect(f"{Path(address.target).absolute().as_uri()}?mode=ro", uri=True)
    try:
        query = address.query
        if query is None:
            listing = connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY 1")
            query = f"SELECT * FROM {_found(address, [('main', name) for (name,) in listing])}"
        elif not re.match(r"\s*(SELECT|WITH)\b", query, re.IGNORECASE):
            raise DataError(f"The query of `{address.shown}` must be a single SELECT.")
        cursor = connection.execute(query)
        names = [item[0] for item in cursor.description]
        parts: list[list[Any]] = [[] for _ in names]
        while rows := cursor.fetchmany(_BATCH):
            for part, values in zip(parts, zip(*rows, strict=True), strict=True):
                part += values
    except sqlite3.Error as error:
        raise DataError(f"`{address.shown}` cannot be read: {_said(error, address)}") from error
    finally:
        connection.close()
    problems: list[str] = []
    columns = [_sqlite_column(name, values, problems) for name, values in zip(names, parts, strict=True)]
    if problems:
        raise DataError([f"`{address.shown}`: {problem}" for problem in problems])
    return dated(pa.table(columns, names=names))


def _sqlite_column(name: str, values: list[Any], problems: list[str]) -> Any:
    """SQLite types values, not columns: numbers may mix, anything else may not. Dates are texts there."""
    types = {type(value) for value in values} - {type(None)}
    if types <= {int, float} or types <= {str}:
        try:
            return pa.array(values, pa.float64()) if types == {int, float} else pa.array(values)
        except pa.ArrowInvalid:  # a float does not tell all of them
            return exact_cells(values)
    problems.append(f"column `{name}` holds values of different types: {listed(sorted(t.__name__ for t in types))}.")
    return None
