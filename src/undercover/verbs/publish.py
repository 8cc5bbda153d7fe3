"""Publish: read, encode, anonymise, verify. What follows encoding is :func:`publish_table`, for whoever has a table."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, TypeVar, get_args

import numpy as np
import pyarrow as pa

from undercover import plugins
from undercover.engines.divided import anonymized
from undercover.engines.local import LocalEngine
from undercover.errors import DataError, InternalError, ParameterError, UnreachableError, listed, unknown
from undercover.forms import read as read_release
from undercover.guarantees.cells import followers
from undercover.guarantees.checking import Checkable
from undercover.guarantees.requirements import guarantee_from_mapping
from undercover.guarantees.verify import Verification, verify_private
from undercover.guarantees.verify import verify as verify_release
from undercover.io.contents_digest import digests_of
from undercover.io.ledger.book import Before, Ledger
from undercover.io.limits import check_published
from undercover.io.source import ReadOptions, read
from undercover.io.spec.load import schema_to_mapping
from undercover.io.words import held_values
from undercover.memory import Store, memory_of
from undercover.model.encoding.folding import check_spellings
from undercover.model.finding import shown
from undercover.model.formats.writing import dates_as_written, notes_of, published_writing
from undercover.model.frames.types import published_types
from undercover.model.kinds.dates import IN_UTC
from undercover.model.policy import Policy, policy_of
from undercover.model.protocols import (
    Engine,
    Method,
    Progress,
    basis_of,
    corruption_robust,
    engine_entry,
    fits,
    no_progress,
    per_unit,
    private_parameters,
    public_parameters,
)
from undercover.model.release import NOT_SAFE, REPRODUCIBLE, Basis, Choice, PublishedTable, Release
from undercover.model.run import UNITS, Draft, Run
from undercover.model.schema import ALL_OTHERS, Schema, check_schema
from undercover.model.table import Table
from undercover.randomness import Randomness
from undercover.verbs.advice import ask_for_less
from undercover.verbs.encode import check_fits, check_said, encoded
from undercover.verbs.joint import with_published
from undercover.verbs.judge import check_policy
from undercover.verbs.ledger import composed, ledger_of, pending
from undercover.verbs.naming.cells import check_input
from undercover.verbs.repeated_people import look_for_people
from undercover.verbs.self_test import check_draft
from undercover.verbs.spark.publish import publish_far, reads_itself
from undercover.verbs.together import counted
from undercover.version import VERSION
from undercover.waiting import teller, telling
from undercover.wording import option

T = TypeVar("T")

USELESS = 0.9
"""The share of the cells of quasi-identifiers that are `*`, from which on a release is of no use."""
PER_ROW = "The promises are per row: whoever has several rows is protected less than they say."


@dataclass
class Stages:
    """Named steps, each told when it begins and timed when it ends.

    >>> at = Stages()
    >>> at("counting", len, "abc"), list(at.seconds)
    (3, ['counting'])
    """

    progress: Progress = no_progress
    seconds: dict[str, float] = field(default_factory=dict)

    def __call__(self, stage: str, work: Callable[..., T], *arguments: Any, told: str = "", **options: Any) -> T:
        """Do one step; ``told`` is what is said of it, by default its name."""
        self.progress(told or stage, 0.0)
        started = time.perf_counter()
        done = work(*arguments, **options)
        self.seconds[stage] = time.perf_counter() - started
        return done


@telling
def publish(
    data: Any,
    schema: Schema,
    method: Method,
    *,
    require: Sequence[Checkable | Mapping[str, Any]] = (),
    seed: int | None = None,
    engine: str | Engine = "local",
    options: ReadOptions | None = None,
    ledger: Ledger | str | os.PathLike[str] | None = None,
    despite_earlier: bool = False,
    policy: Policy | str | os.PathLike[str] | Mapping[str, Any] | None = None,
    choice: Basis | None = None,
    memory: int | str | None = None,
    progress: Progress | bool = False,
) -> Run:
    """Anonymise a table and verify the result.

    Parameters
    ----------
    data
        A pandas, polars or pyarrow frame, a path, a database URL, a DataFrame or catalogue table of Spark, or an
        input read before.
    schema
        Which column plays which part.
    method
        For example :class:`undercover.Mondrian`.
    require
        What must hold beyond the method's own claims, as guarantee objects or as mappings with a ``name``.
    seed
        For experiments: makes the run reproducible, and therefore unfit for publication.
    engine
        Where the work runs: ``"local"``, ``"spark"``, or :class:`undercover.LocalEngine` with ``parts=16``.
    options
        How to read a file.
    ledger
        A private record of who was published before, or its file. People who were count: what is promised must hold for
        whoever has all releases of them. The run is entered when it is saved.
    despite_earlier
        Publish although the promise does not hold together with earlier releases; the run says so.
    policy
        What may happen to people: ``"standard"`` (the default), ``"open"``, ``"research"``, ``"none"``, a
        :class:`undercover.Policy`, its limits as a mapping, or a file with them. ``run.verdict`` judges by it.
    choice
        What the choice of the method rests on, ``"declared"``, ``"public"`` or ``"looked"``; by default what it knows.
    memory
        Bytes that may be used, or a size such as ``"8GB"``; by default most of what is free. From a million rows on a
        table is held as codes, which go to temporary files where they would take more than a quarter of it.
    progress
        ``True`` shows how far it is on stderr; or a function, called with a stage and the share of it that is done.

    Returns
    -------
    The private run; ``run.release`` is what may leave the house.

    Raises
    ------
    UnreachableError
        If the method's promise or a requirement cannot be kept on this table, or not together with earlier releases.

    Examples
    --------
    >>> import undercover as uc
    >>> schema = uc.Schema(quasi_identifiers=["age"], sensitive="income")
    >>> run = uc.publish(uc.datasets.census(1000), schema, uc.Mondrian(k=10))
    >>> run.release.guarantees[0]["actual"] >= 10
    True
    """
    check_schema(schema)
    chosen = _choice(choice, method)
    requirements = [r if not isinstance(r, Mapping) else guarantee_from_mapping(r) for r in require]
    limits = policy_of(policy)
    book = None if ledger is None else ledger_of(ledger)
    if book is not None:
        book.check()
    tell = teller(progress)
    at, place = Stages(tell), engine_of(engine)
    method = with_published(method, schema)
    if reads_itself(place, data):
        said: dict[str, Any] = {"policy": limits, "asked": policy is not None, "ledger": ledger is not None}
        said |= {"require": requirements, "seed": seed, "options": options}
        return publish_far(data, schema, method, engine=place, at=at, **said).chosen(chosen)
    store = Store(memory_of(memory))
    given = at("read", read, data, options=options, store=store, progress=tell, told="reading")
    if given is data:  # it was read before
        at.seconds["read"] += given.seconds
    if memory is not None or given.data.num_rows >= store.large:
        check_fits(given.data.num_rows, method.name, store.memory)
    randomness = Randomness(seed)
    drawn = int(randomness.words("one row", 2).view(np.uint64)[0]) if schema.one_row_per == "random" else None
    check_published(given.data, schema.quasi_identifiers, schema.published)
    check_said(schema, given.data)
    at_hand: dict[str, Any] = {"engine": place, "store": store}
    table = at("encode", encoded, given.data, schema, Randomness(drawn), told="encoding", **at_hand)
    looked = {"by_chance": check_input(table, given), "people": look_for_people(given.data, table.schema)}
    check_policy(limits, table, asked=policy is not None)
    before = Before() if book is None else at("ledger", book.before, given.data, tell, told="looking into the ledger")
    method, broken = composed(method, before, schema, despite_earlier)
    written = dates_as_written(given.data, table.schema)
    digest = digests_of(given.data, [*schema.identifiers, *schema.published, schema.weight or ""])
    identifying = {name: held_values(given.data.column(name)) for name in schema.identifiers}
    if book is None and (given.once or given is not data):
        given.let_go()
    run = publish_table(table, method, require=requirements, engine=place, randomness=randomness, at=at)
    source = {**given.source, "columns": given.data.column_names, **run.source, "digest": digest}
    source["options"] = asdict(options or ReadOptions())
    source |= {name: found for name, found in looked.items() if found}
    source |= {} if drawn is None else {"one_row": drawn}  # private, like a seed: it keeps the same rows again
    source |= {} if run.schema is table.schema else {"asked": schema_to_mapping(schema)}
    tables, notes = run.release.tables, {**given.notes, **notes_of(written)}
    writing = published_writing({**given.writing, **written}, tables)
    release = run.release.changed(frame=given.frame, types=published_types(given.types, tables), writing=writing)
    warnings = (*run.warnings, *of_input(table, given.data.column_names, given.utc, run, notes))
    run = replace(run, release=release, source=source, warnings=warnings, policy=limits, identifying=identifying)
    run = run.chosen(chosen)
    if book is None:
        return run
    run = counted(run, before, despite=despite_earlier, broken=broken, progress=tell)
    return pending(run, given.data, book, schema, before)


def _choice(basis: Basis | None, method: Method) -> Choice:
    """The choice as somebody says, or as the method knows: one that was recommended was chosen by looking."""
    if isinstance(method, type) or not hasattr(method, "anonymize"):
        raise ParameterError(f"A method is an object that has its parameters. Got {method!r} instead.")
    if basis is not None and basis not in get_args(Basis):
        raise ParameterError(unknown("Basis of a choice", str(basis), get_args(Basis)))
    return Choice(basis or basis_of(method))


def publish_table(
    table: Table,
    method: Method,
    *,
    require: Sequence[Checkable] = (),
    engine: Engine | None = None,
    randomness: Randomness | None = None,
    at: Stages | None = None,
    self_tested: bool = True,
) -> Run:
    """Anonymise a table that is encoded already, and verify the result: every claim once.

    Only whoever studies what a method makes, and returns it to nobody, leaves it untested (``self_tested=False``).
    """
    at, engine, randomness = at or Stages(), engine or LocalEngine(), randomness or Randomness()
    _must_know_people(table, method)
    check_spellings(table[name] for name in table.schema.sensitive)
    doing = f"anonymising with {method.name}"
    draft = at(
        "anonymize", anonymized, method, table, engine=engine, randomness=randomness, progress=at.progress, told=doing
    )
    run = _run(table, method, draft, randomness, require)
    claims = [claim for claim in (*method.claims(table), *draft.claims) if fits(claim, Checkable)]
    found = at("verify", _verified, run, [*claims, *require], at.progress, told="verifying")
    if self_tested:  # before anything is blamed on the table
        tested = at("self-test", check_draft, table, run, draft, told="testing what was drawn")
        run = replace(run, self_test=tested.to_dict())
    _must_hold(found, len(claims))
    _must_give_nothing_away(run)
    warnings = (*run.warnings, *_of_use(run.release, method))
    release = run.release.with_guarantees(found.manifest_entries())
    run = replace(run, release=release, verification=found, engine=engine_entry(engine))
    return replace(run, timings=dict(at.seconds), warnings=warnings)


def _must_know_people(table: Table, method: Method) -> None:
    """A method that promises rows something promises little to people who have several."""
    if table.units is None or per_unit(method):
        return
    unit, people = table.schema.unit, int(table.units.max()) + 1
    raise ParameterError(
        f"{method.name} protects rows, and {people:,} people have {table.n_rows:,} of them (unit: `{unit}`). Keep one "
        f"row of each: {option(one_row_per='first')} (or `last`, or `random`), or take another method, such as "
        f"{plugins.names('methods')[0]}."
    )


def _run(table: Table, method: Method, draft: Draft, randomness: Randomness, require: Sequence[Checkable]) -> Run:
    """The release and everything around it; the one place that makes either."""
    safe = draft.safe and method.algorithm_safe
    release = Release(
        method=method.name,
        parameters={**public_parameters(method), **({"used": dict(draft.used)} if draft.used else {})},
        tables=_with_spellings(draft.tables, table.schema),
        algorithm_safe=safe,
        corruption_robust=draft.safe and corruption_robust(method),
        suppressed_rows=draft.suppressed,
        warnings=(*(() if safe else (NOT_SAFE,)), *((REPRODUCIBLE,) if randomness.reproducible else ())),
        version=VERSION,
        form=draft.form,
    )
    original = _without(table, draft.dropped) if draft.dropped else table
    frames = dict(draft.frames)
    rows = table.rows if draft.kept is None else table.rows[draft.kept]
    if table.units is not None:
        frames[UNITS] = pa.table({"unit": table.units if draft.kept is None else table.units[draft.kept]})
    return Run(
        release=release,
        schema=original.schema,
        groups=draft.groups,
        rows=rows.astype(np.int32) if table.n_input < 1 << 31 else rows,
        source={"kinds": {name: column.settings.kind or column.domain.kind for name, column in table.columns.items()}},
        randomness={"source": "seed", "seed": randomness.seed} if randomness.reproducible else {"source": "os"},
        timings={},
        buckets=draft.buckets,
        diagnostics=draft.diagnostics,
        frames=frames,
        warnings=(*release.warnings, *draft.warnings),
        requirements=tuple({"name": asked.name, **asked.parameters()} for asked in require),
        recipe=private_parameters(method),
        original=original,
        method=method,
        order=draft.order,
        made=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def _with_spellings(tables: tuple[PublishedTable, ...], schema: Schema) -> tuple[PublishedTable, ...]:
    """The tables, with the holder's word on columns whose spellings are different values: a verifier needs it."""
    distinct = {name for name in schema.sensitive if schema.column(name).spellings == "distinct"}
    if not distinct:
        return tables
    return tuple(
        replace(
            table,
            columns=tuple(
                replace(column, spellings="distinct") if column.name in distinct else column for column in table.columns
            ),
        )
        for table in tables
    )


def _verified(run: Run, claims: Sequence[Checkable], progress: Progress) -> Verification:
    return verify_private(verify_release(run.release, also=claims, progress=progress), run)


def engine_of(engine: str | Engine, parts: int | None = None) -> Engine:
    """An engine by its name, which cuts tables into so many parts.

    >>> engine_of("local", 16).parts
    16
    """
    if not isinstance(engine, str):
        return engine
    made: Engine = plugins.load("engines", engine)(**({} if parts is None else {"parts": parts}))
    return made


def _must_hold(verification: Verification, n_claims: int) -> None:
    """The method's own claims failing is our bug; a further requirement failing is the table's fault.

    So is what any verifier would object to, whatever is promised: a release that nobody can verify is not made.
    """
    if verification.problems:
        cure = "No verifier would accept such a release. Drop the columns that are named, or give them other roles."
        raise DataError([*verification.problems, cure])
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


def _must_give_nothing_away(run: Run) -> None:
    """Raise where an unchanged column follows a quasi-identifier whose hierarchy only the holder knows."""
    trees = {
        name: settings.hierarchy.rows
        for name in run.schema.quasi_identifiers
        if (settings := run.schema.column(name)).hierarchy is not None
    }
    problems = followers(read_release(run.release), trees) if trees else []
    if problems:
        raise DataError(problems)


def _without(table: Table, dropped: Sequence[str]) -> Table:
    """The table without quasi-identifiers that were not published: they are neither attacked nor measured."""
    schema = table.schema
    kept = replace(
        schema,
        quasi_identifiers=tuple(name for name in schema.quasi_identifiers if name not in dropped),
        columns={name: column for name, column in schema.columns.items() if name not in dropped},
    )
    columns = {name: column for name, column in table.columns.items() if name not in dropped}
    return replace(table, schema=kept, columns=columns)


def _of_use(release: Release, method: Method) -> list[str]:
    """That a release says next to nothing of quasi-identifiers."""
    unsaid = read_release(release).unsaid
    if unsaid < USELESS:
        return []
    return [
        f"{unsaid:.0%} of the cells of quasi-identifiers are `*`: the release says next to nothing about them. "
        f"{ask_for_less(method)}, name fewer quasi-identifiers, or give hierarchies to those without an order."
    ]


def of_input(
    table: Table, columns: Sequence[str], utc: Sequence[str], run: Run, notes: Mapping[str, str] | None = None
) -> list[str]:
    """What the holder should know of the input, its ``columns`` and those whose moments are published in ``utc``."""
    warnings = []
    repeated = {name: rows for name, rows in table.repeated.items() if rows}
    for name, rows in repeated.items():
        warnings.append(f"Identifier `{name}` repeats: {rows:,} of {table.n_input:,} rows share theirs. {PER_ROW}")
    if table.set_aside:
        warnings.append(
            f"One row per `{table.schema.unit}`, the {table.schema.one_row_per} one: {table.set_aside:,} of "
            f"{table.n_input:,} rows are not published."
        )
    dropped = table.n_input - table.set_aside - table.n_rows
    if dropped:
        warnings.append(
            f"{dropped:,} of {table.n_input:,} rows {'has' if dropped == 1 else 'have'} a missing value and "
            f"{'was' if dropped == 1 else 'were'} left out."
        )
    decided = {*table.schema.identifiers, *table.schema.published, *table.schema.drop}
    unnamed = [name for name in columns if not decided & {name, ALL_OTHERS}]
    if unnamed:
        warnings.append(f"Columns without a role are not published: {listed(unnamed)}.")
    warnings += [note for name, note in (notes or {}).items() if name in table.schema.published]
    warnings += [
        f"Each value of `{name}` is published in its most frequent spelling."
        for name in table.schema.sensitive
        if table.schema.column(name).spellings == "fold"
    ]
    warnings += [
        f"The holder says that different spellings of `{name}` are different values; they were counted so."
        for name in table.schema.sensitive
        if table.schema.column(name).spellings == "distinct"
    ]
    moments = {*utc, *(n for n in table.schema.published if (table.schema.column(n).format or "").endswith(IN_UTC))}
    warnings += [
        f"`{name}` is published in UTC, or with its zone: a clock shows two of its moments alike, and they would be "
        "one. Say so in its description."
        for name in table.schema.published
        if name in moments
    ]
    return warnings
