"""The verbs: publish, verify, attack, measure, report, save, load."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, overload

from undercover.attacks import (
    AlgorithmAware,
    AlgorithmAwareResult,
    BucketMatching,
    BucketMatchingResult,
    Corruption,
    CorruptionResult,
    JointRelease,
    JointRisk,
    Linkage,
    LinkageResult,
)
from undercover.attacks.corruption.true_values import ordinary_corruption
from undercover.attacks.partial.attack import PartialKnowledge
from undercover.attacks.partial.profile import MOST_COLUMNS
from undercover.engines.local import LocalEngine
from undercover.errors import DataError, InternalError, ParameterError, SchemaError, UnreachableError, listed, unknown
from undercover.guarantees import (
    Checkable,
    Published,
    Verification,
    guarantee_from_mapping,
    released_table,
    verify_against,
    verify_private,
)
from undercover.guarantees import verify as verify_release
from undercover.guarantees.finding import shown
from undercover.io.published import read_published
from undercover.io.release import folder as bundle
from undercover.io.release.manifest import Format, load_release
from undercover.io.source import Input, ReadOptions, read
from undercover.io.spec.load import schema_to_mapping
from undercover.methods.mondrian.minimality.attack import Minimality, MinimalityResult
from undercover.methods.mutual_cover.informed import Informed, InformedResult
from undercover.methods.noncentralized import NonCentralized
from undercover.methods.registry import method_from_mapping, method_parameters
from undercover.model.drawn import is_drawn, is_perturbed, own_rows
from undercover.model.protocols import Engine, Method, Progress, no_progress
from undercover.model.release import Release
from undercover.model.run import Run
from undercover.model.schema import Schema
from undercover.model.table import Table
from undercover.pages.cards import register as register_cards
from undercover.randomness import Randomness
from undercover.utility import Measures, QueryError
from undercover.utility import measure as measure_release
from undercover.utility.queries.counts import about_each
from undercover.version import VERSION

ENGINES = {"local": LocalEngine}

NOT_SAFE = (
    "Not algorithm-safe: how rows were grouped depends on sensitive values, so somebody who knows the algorithm and "
    "every quasi-identifier may infer more than the release alone shows."
)
MOST_ROWS_ATTACKED_TWICE = 200_000  # beyond, the report leaves the slower attacks to the attack command
QUERIES = 1000  # of each set of columns in the report; a quarter of them where there are more rows than that
PER_ROW = "The promises are per row: whoever has several rows is protected less than they say."


def publish(
    data: Any,
    schema: Schema,
    method: Method,
    *,
    require: Sequence[Checkable | Mapping[str, Any]] = (),
    seed: int | None = None,
    engine: str | Engine = "local",
    options: ReadOptions | None = None,
    progress: Progress = no_progress,
) -> Run:
    """Anonymise a table and verify the result.

    Parameters
    ----------
    data
        A pandas, polars or pyarrow frame, a path, a database URL, or an input read before.
    schema
        Which column plays which part.
    method
        For example :class:`undercover.Mondrian`.
    require
        What must hold beyond the method's own claims, as guarantee objects or as mappings with a ``name``.
    seed
        For experiments: makes the run reproducible, and therefore unfit for publication.
    engine
        Where the work runs.
    options
        How to read a file.
    progress
        Called with a stage and the share of it that is done.

    Returns
    -------
    The private run; ``run.release`` is what may leave the house.

    Raises
    ------
    UnreachableError
        If the method's promise or a requirement cannot be kept on this table.

    Examples
    --------
    >>> import undercover as uc
    >>> schema = uc.Schema(quasi_identifiers=["age"], sensitive="income")
    >>> run = uc.publish(uc.datasets.census(1000), schema, uc.Mondrian(k=10))
    >>> run.release.guarantees[0]["actual"] >= 10
    True
    """
    requirements = [r if not isinstance(r, Mapping) else guarantee_from_mapping(r) for r in require]
    method = with_published(method, schema)
    randomness = Randomness(seed)
    used_engine = _engine(engine)
    started = time.perf_counter()
    progress("reading", 0.0)
    given = data if isinstance(data, Input) else read(data, options=options)
    read_at = time.perf_counter()
    progress("encoding", 0.0)
    table = Table.from_arrow(given.data, schema)
    encoded_at = time.perf_counter()
    progress(f"anonymising with {method.name}", 0.0)
    draft = method.anonymize(table, engine=used_engine, randomness=randomness, progress=progress)
    anonymized_at = time.perf_counter()
    progress("verifying", 0.0)
    release = Release(
        method=method.name,
        parameters={**method_parameters(method), **({"used": dict(draft.used)} if draft.used else {})},
        tables=draft.tables,
        algorithm_safe=method.algorithm_safe,
        suppressed_rows=draft.suppressed,
        warnings=() if method.algorithm_safe else (NOT_SAFE,),
        version=VERSION,
        frame=given.frame,
        form=draft.form,
    )
    original = _without(table, draft.dropped) if draft.dropped else table
    run = Run(
        release=release,
        schema=original.schema,
        groups=draft.groups,
        rows=table.rows if draft.kept is None else table.rows[draft.kept],
        source={
            **given.source,
            "columns": given.data.column_names,
            "kinds": {name: column.settings.kind or column.domain.kind for name, column in table.columns.items()},
            "options": asdict(options or ReadOptions()),
            **({"asked": schema_to_mapping(schema)} if draft.dropped else {}),
        },
        randomness={"source": "seed", "seed": seed} if randomness.reproducible else {"source": "os"},
        timings={
            "read": read_at - started,
            "encode": encoded_at - read_at,
            "anonymize": anonymized_at - encoded_at,
        },
        buckets=draft.buckets,
        diagnostics=draft.diagnostics,
        frames=draft.frames,
        warnings=(*release.warnings, *draft.warnings, *_private_warnings(table, given, randomness)),
        requirements=tuple({"name": asked.name, **asked.parameters()} for asked in requirements),
        original=original,
    )
    claims = [claim for claim in (*method.claims(table), *draft.claims) if isinstance(claim, Checkable)]
    verification = verify_private(verify_release(release, also=[*claims, *requirements]), run)
    _must_hold(verification, len(claims))
    return replace(
        run,
        release=release.with_guarantees(verification.manifest_entries()),
        timings={**run.timings, "verify": time.perf_counter() - anonymized_at},
    )


def verify(
    target: Release | Run | str | os.PathLike[str],
    *,
    also: Sequence[Checkable] = (),
    original: Any = None,
    schema: Schema | None = None,
) -> Verification:
    """Recompute every claim of a release from its published tables alone.

    Parameters
    ----------
    target
        A release, a run, a folder ``DIR/public``, or a folder ``DIR`` with both parts.
    also
        Further guarantees to check.
    original, schema
        With the original table: also whether every row is covered and nothing was invented.

    Examples
    --------
    >>> import undercover as uc
    >>> schema = uc.Schema(quasi_identifiers=["age"], sensitive="income")
    >>> run = uc.publish(uc.datasets.census(1000), schema, uc.Mondrian(k=10))
    >>> uc.verify(run.release).holds
    True
    """
    problems: list[str] = []
    run = target if isinstance(target, Run) else None
    if isinstance(target, str | os.PathLike):
        folder = Path(target)
        if (folder / "private").is_dir():
            run = bundle.load_run(folder)
        release, problems = load_release(folder / "public" if (folder / "public").is_dir() else folder)
    else:
        release = target.release if isinstance(target, Run) else target
    verification = verify_release(release, also=also, problems=problems)
    if run is not None:
        verification = verify_private(verification, replace(run, release=release))
    if original is None:
        return verification
    if run is not None and schema is None:
        return verification.extended(verify_against(release, original_of(run, original)))
    return verification.extended(verify_against(release, _table(original, schema, release)))


@overload
def attack(
    target: Run | str | os.PathLike[str], attacker: Linkage | None = None, *, original: Any = None
) -> LinkageResult: ...


@overload
def attack(target: Run | str | os.PathLike[str], attacker: Corruption, *, original: Any = None) -> CorruptionResult: ...


@overload
def attack(target: Run | str | os.PathLike[str], attacker: Informed, *, original: Any = None) -> InformedResult: ...


@overload
def attack(
    target: Run | str | os.PathLike[str], attacker: BucketMatching, *, original: Any = None
) -> BucketMatchingResult: ...


@overload
def attack(
    target: Run | str | os.PathLike[str], attacker: AlgorithmAware, *, original: Any = None
) -> AlgorithmAwareResult: ...


@overload
def attack(
    target: Run | str | os.PathLike[str],
    attacker: Minimality,
    *,
    original: Any = None,
    progress: Progress = no_progress,
) -> MinimalityResult: ...


def attack(
    target: Run | str | os.PathLike[str],
    attacker: Linkage | Corruption | Informed | BucketMatching | AlgorithmAware | Minimality | None = None,
    *,
    original: Any = None,
    progress: Progress = no_progress,
) -> LinkageResult | CorruptionResult | InformedResult | BucketMatchingResult | AlgorithmAwareResult | MinimalityResult:
    """Attack a release with what the holder knows: the original table.

    Parameters
    ----------
    target
        A run, or the folder it was saved to.
    attacker
        By default :class:`undercover.Linkage` with every quasi-identifier known. :class:`undercover.AlgorithmAware`
        goes through everything the method could have published of a table of a few people,
        :class:`undercover.Minimality` asks of a Mondrian release of any size why its groups were not cut further.
    original
        Where the run does not know it: the original table or its path.
    progress
        Called with a stage and the share of it that is done, by attacks that take long.

    Examples
    --------
    >>> import undercover as uc
    >>> schema = uc.Schema(quasi_identifiers=["age"], sensitive="income")
    >>> run = uc.publish(uc.datasets.census(1000), schema, uc.Mondrian(k=10))
    >>> bool(uc.attack(run).after.identity.max() <= 1 / 10)
    True
    """
    run = target if isinstance(target, Run) else load(target)
    table = original_of(run, original)
    threads = LocalEngine().threads
    if isinstance(attacker, AlgorithmAware):
        return attacker.run(table, method_of(run))
    if isinstance(attacker, Minimality):
        if is_perturbed(run.release) or is_drawn(run.release):
            raise ParameterError("The minimality attack reads groups with their true values; here values were drawn.")
        return attacker.run(table, method_of(run), run.groups, rows=run.rows, threads=threads, progress=progress)
    if isinstance(attacker, Informed):
        return attacker.run(table, run, threads=threads)
    if isinstance(attacker, Corruption | BucketMatching):
        return attacker.run(table, run.release, threads=threads)
    return (attacker or Linkage()).run(table, run.release, own=own_rows(run), threads=threads)


def measure(
    original: Any,
    release: Release | Run,
    *,
    schema: Schema | None = None,
    query_error: QueryError | Sequence[QueryError] = (),
) -> Measures:
    """What the release costs: discernibility, class sizes, loss per column, distributions before and after.

    Parameters
    ----------
    original
        The original table, as a frame, a path or an encoded table.
    release
        A release or a run.
    schema
        Kinds and hierarchies of the columns; taken from a run where one is given.
    query_error
        Also ask random COUNT queries, one workload or several, and measure how far off the answers are.

    Examples
    --------
    >>> import undercover as uc
    >>> people = uc.datasets.census(1000)
    >>> run = uc.publish(people, uc.Schema(quasi_identifiers=["age"], sensitive="income"), uc.Mondrian(k=10))
    >>> 0 < uc.measure(people, run.release).to_dict()["loss"]["arx"]["arithmetic"] < 1
    True
    """
    if isinstance(release, Run) and schema is None:
        table = original_of(release, original)
        return measure_release(table, release.release, query_error=query_error, own=own_rows(release))
    own = None
    if isinstance(release, Run):
        own, release = own_rows(release), release.release
    return measure_release(_table(original, schema, release), release, query_error=query_error, own=own)


def published(
    source: Release | Run | Published | str | os.PathLike[str],
    *,
    name: str | None = None,
    sensitive: str | None = None,
    quasi_identifiers: Sequence[str] | None = None,
    suppressed: bool = False,
) -> Published:
    """A table somebody has published, ready to be joined with others.

    Parameters
    ----------
    source
        A release or run, a public folder, or a file with named columns.
    name
        What it is called in messages; by default its folder or file.
    sensitive, quasi_identifiers
        Of a file: its columns; by default all but the sensitive one are quasi-identifiers.
    suppressed
        Whether suppressed rows count as one more class.

    Examples
    --------
    >>> import undercover as uc
    >>> schema = uc.Schema(quasi_identifiers=["age"], sensitive="income")
    >>> run = uc.publish(uc.datasets.census(1000), schema, uc.Mondrian(k=10))
    >>> published(run, name="census").quasi_identifiers
    ('age',)
    """
    if isinstance(source, Published):
        found = source
    elif isinstance(source, Release | Run):
        release = source.release if isinstance(source, Run) else source
        found = released_table(release, name or release.method, sensitive=sensitive, suppressed=suppressed)
    else:
        found = read_published(source, sensitive=sensitive, quasi_identifiers=quasi_identifiers, suppressed=suppressed)
    return found if name is None else replace(found, name=name)


def joint_risk(tables: Sequence[Any], attacker: JointRelease | None = None, **options: Any) -> JointRisk:
    """What published tables say together, whoever made them.

    Parameters
    ----------
    tables
        Whatever :func:`published` takes, at least one.
    attacker
        By default :class:`undercover.JointRelease`, who knows every quasi-identifier.
    options
        Of :func:`published`, for all tables.

    Examples
    --------
    >>> import undercover as uc
    >>> people = uc.datasets.census(1000)
    >>> first = uc.publish(people, uc.Schema(quasi_identifiers=["age"], sensitive="income"), uc.Mondrian(k=50))
    >>> second = uc.publish(people, uc.Schema(quasi_identifiers=["sex"], sensitive="income"), uc.Mondrian(k=50))
    >>> found = joint_risk([first, second])
    >>> found.l <= min(found.alone)
    True
    """
    read_tables = [
        published(table, name=None if not isinstance(table, Release | Run) else f"table {number}", **options)
        for number, table in enumerate(tables, 1)
    ]
    return (attacker or JointRelease()).run(read_tables)


def method_of(run: Run) -> Method:
    """The method that made a run, with its parameters."""
    asked = {name: value for name, value in run.release.parameters.items() if name != "used"}
    if run.release.method == NonCentralized.name:
        asked["others"] = run.diagnostics.get("others", [])
    return with_published(method_from_mapping(run.release.method, asked), run.schema)


def with_published(method: Method, schema: Schema) -> Method:
    """The same method, with the tables of others read that it names by their path."""
    if not isinstance(method, NonCentralized):
        return method
    sensitive = schema.sensitive[0] if schema.sensitive else None
    return replace(method, others=tuple(published(other, sensitive=sensitive) for other in method.others))


def summarize(run: Run, *, progress: Progress = no_progress) -> dict[str, Any]:
    """Verify, attack and measure a run: everything its report says, as one private mapping.

    Examples
    --------
    >>> import undercover as uc
    >>> schema = uc.Schema(quasi_identifiers=["age"], sensitive="income")
    >>> run = uc.publish(uc.datasets.census(1000), schema, uc.Mondrian(k=10))
    >>> summarize(run)["private"]
    True
    """
    from undercover.pages.summary import summarize as summarize_run

    progress("verifying", 0.0)
    verification = verify(run)
    attacks, measures = [], None
    if run.original is not None:
        progress("attacking and measuring", 0.0)
        queries = QUERIES if len(run.rows) <= MOST_ROWS_ATTACKED_TWICE else QUERIES // 4
        with ThreadPoolExecutor(1) as beside:
            measured = beside.submit(measure, run.original, run, query_error=about_each(run.release, queries))
            attacks = _attacks(run, run.original)
            measures = measured.result().to_dict()
    return summarize_run(run, verification=verification, attacks=attacks, measures=measures)


def _attacks(run: Run, original: Table) -> list[dict[str, Any]]:
    """Every attack of the report."""
    attacks = [attack(run).to_dict()]
    if is_perturbed(run.release):
        attacks.append(attack(run, Corruption()).to_dict())
    if is_drawn(run.release) and len(run.rows) <= MOST_ROWS_ATTACKED_TWICE:
        if len(run.schema.quasi_identifiers) <= MOST_COLUMNS:
            attacks.append(attack(run, Linkage(p_match=0.7)).to_dict() | {"attack": "p-match"})
        attacks.append(attack(run, Informed()).to_dict())
    return attacks + further_attacks(run, original, tried={str(made["attack"]) for made in attacks})


def further_attacks(run: Run, original: Table, *, tried: Collection[str] = ()) -> list[dict[str, Any]]:
    """What else a report shows at little cost: the attacker who knows some columns, and the one who knows some values.

    Where rows stand for several people, or there are many columns, the first does not apply; the second is for releases
    that show true values. Left out is what was ``tried``.

    Examples
    --------
    >>> import undercover as uc
    >>> schema = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="income")
    >>> run = uc.publish(uc.datasets.census(1000), schema, uc.Mondrian(k=10))
    >>> [made["attack"] for made in further_attacks(run, run.original)]
    ['p-match', 'ordinary-corruption']
    """
    found = []
    partly = PartialKnowledge()
    if "p-match" not in tried and partly.applies(original, run.release):
        found.append(partly.run(original, run.release, own=own_rows(run), threads=LocalEngine().threads))
    corrupted = ordinary_corruption(original, run)
    return found if corrupted is None else [*found, corrupted]


def report(run: Run, path: str | os.PathLike[str]) -> Path:
    """Write the holder's report of a run: one self-contained HTML page, private."""
    from undercover.pages.render import report_html

    place = Path(path)
    place.write_text(report_html(summarize(run)), encoding="utf-8")
    return place


def save(
    run: Run,
    directory: str | os.PathLike[str],
    *,
    format: Format = "csv",  # noqa: A002
    force: bool = False,
    summary: Mapping[str, Any] | None = None,
    progress: Progress = no_progress,
) -> Path:
    """Write a run to ``directory/public`` and ``directory/private``, whole or not at all.

    ``summary`` is what :func:`summarize` returned, where it was called before.

    Examples
    --------
    >>> import tempfile, undercover as uc
    >>> schema = uc.Schema(quasi_identifiers=["age"], sensitive="income")
    >>> run = uc.publish(uc.datasets.census(1000), schema, uc.Mondrian(k=10))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sorted(path.name for path in (uc.save(run, Path(folder, "out")) / "public").iterdir())
    ['datasheet.html', 'release.json', 'table.csv']
    """
    from undercover.pages.again import again
    from undercover.pages.datasheet import datasheet_summary
    from undercover.pages.render import datasheet_html, report_html

    facts = summarize(run, progress=progress) if summary is None else summary
    facts = {**facts, "again": again(run, folder=directory, file_format=format)}
    progress("writing", 0.0)
    return bundle.save(
        run,
        directory,
        format=format,
        force=force,
        report=report_html(facts),
        summary=facts,
        datasheet=datasheet_html(datasheet_summary(run.release, file_format=format)),
    )


def load(directory: str | os.PathLike[str]) -> Run:
    """Read a run back from the folder it was saved to; the original table is not part of it."""
    return bundle.load_run(directory)


def original_of(run: Run, original: Any = None) -> Table:
    """The original table of a run: in memory, as given, or where it was read from."""
    options = ReadOptions(**run.source.get("options", {}))
    if original is not None:
        return _table(original, run.schema, run.release, options)
    if run.original is not None:
        return run.original
    path = run.source.get("path")
    if path is None:
        raise DataError("The run does not know where its original table is. Give it: original=… or --original DATA.")
    if "://" not in path and not Path(path).is_file():
        raise DataError(f"The original table is no longer at `{path}`. Say where it is: original=… or --original DATA.")
    given = read(path, options=options)
    if run.source.get("sha256") != given.source.get("sha256"):
        raise DataError(f"`{path}` has changed since the release was made. Give the original: --original DATA.")
    return Table.from_arrow(given.data, run.schema)


def schema_of(release: Release) -> Schema:
    """The roles of a release's columns, for a table nobody has said more about."""
    columns = [column for table in release.tables for column in table.columns]
    roles: dict[str, list[str]] = {"quasi-identifier": [], "sensitive": [], "insensitive": []}
    for column in columns:
        if column.role in roles and column.name not in roles[column.role]:
            roles[column.role].append(column.name)
    if any(column.form == "node" for column in columns):
        raise SchemaError("This release publishes hierarchy nodes; their meaning is in the schema. Give schema=….")
    return Schema(
        quasi_identifiers=roles["quasi-identifier"],
        sensitive=roles["sensitive"],
        insensitive=roles["insensitive"],
        missing="category",
    )


def _table(original: Any, schema: Schema | None, release: Release, options: ReadOptions | None = None) -> Table:
    if isinstance(original, Table):
        return original
    given = original if isinstance(original, Input) else read(original, options=options)
    return Table.from_arrow(given.data, schema or schema_of(release))


def _engine(engine: str | Engine) -> Engine:
    if not isinstance(engine, str):
        return engine
    if engine == "spark":
        raise ParameterError("The spark engine is not part of this version. Use --engine local.")
    if engine not in ENGINES:
        raise ParameterError(unknown("Engine", engine, ENGINES))
    return ENGINES[engine]()


def _must_hold(verification: Verification, n_claims: int) -> None:
    """The method's own claims failing is our bug; a further requirement failing is the table's fault."""
    for finding in verification.findings[:n_claims]:
        if finding.holds is False:
            raise InternalError(f"The method's own claim does not hold: {finding!r}. Nothing was written.")
    failed = [finding for finding in verification.findings[n_claims:] if finding.holds is False]
    if failed:
        asked = "; ".join(
            f"{finding.name} asks for {shown(finding.required, None)}, the release reaches {finding.shown()}"
            for finding in failed
        )
        raise UnreachableError(
            f"What was required does not hold: {asked}. Ask the method for it, or require less.",
            best={finding.name: finding.actual for finding in failed},
        )


def _without(table: Table, dropped: Sequence[str]) -> Table:
    """The table without quasi-identifiers that were not published: they are neither attacked nor measured."""
    schema = table.schema
    kept = Schema(
        quasi_identifiers=[name for name in schema.quasi_identifiers if name not in dropped],
        sensitive=schema.sensitive,
        identifiers=schema.identifiers,
        insensitive=schema.insensitive,
        columns={name: column for name, column in schema.columns.items() if name not in dropped},
        missing=schema.missing,
    )
    columns = {name: column for name, column in table.columns.items() if name not in dropped}
    return replace(table, schema=kept, columns=columns)


def _private_warnings(table: Table, given: Input, randomness: Randomness) -> list[str]:
    warnings = []
    repeated = {name: rows for name, rows in table.repeated.items() if rows}
    for name, rows in repeated.items():
        warnings.append(f"Identifier `{name}` repeats: {rows:,} of {table.n_input:,} rows share theirs. {PER_ROW}")
    dropped = table.n_input - table.n_rows
    if dropped:
        warnings.append(f"{dropped:,} of {table.n_input:,} rows have a missing value and were left out.")
    named = {*table.schema.identifiers, *table.schema.published}
    unnamed = [name for name in given.data.column_names if name not in named]
    if unnamed:
        warnings.append(f"Columns without a role are not published: {listed(unnamed)}.")
    if randomness.reproducible:
        warnings.append("Reproducible: not for publication. Whoever knows the seed can undo the shuffling.")
    return warnings


register_cards()
