"""Publish a table that lies in Spark: the same steps, with what rows of Spark do not have left out.

Such rows have no order of their own, so a run cannot be compared with its input by the places of rows, and no ledger
recognises its people.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from undercover.engines.spark.coding import quoted
from undercover.engines.spark.engine import SparkEngine
from undercover.engines.spark.far import let_go
from undercover.engines.spark.secret import Secret
from undercover.errors import ParameterError, SchemaError
from undercover.guarantees.checking import Checkable
from undercover.io.files import CSV, PARQUET
from undercover.io.source import ReadOptions
from undercover.io.spark import SparkInput, is_in_spark, read_spark
from undercover.io.spec.load import schema_to_mapping
from undercover.io.words import Named, Words
from undercover.model.formats.writing import published_writing
from undercover.model.policy import Policy
from undercover.model.protocols import Engine, Method
from undercover.model.run import Run
from undercover.model.schema import Schema
from undercover.randomness import Randomness
from undercover.verbs.encode import check_said
from undercover.verbs.judge import check_policy
from undercover.verbs.naming.cells import check_cells
from undercover.wording import option

_NUMBERS = "identifier long, text long, whole boolean"


def reads_itself(engine: Engine, data: Any) -> bool:
    """Whether an engine reads ``data`` where it lies, and not this process."""
    if isinstance(data, SparkInput) or is_in_spark(data):
        if not isinstance(engine, SparkEngine):
            raise ParameterError(f"What lies in Spark is published by the Spark engine: {option(engine='spark')}.")
        return True
    if not isinstance(engine, SparkEngine) or not isinstance(data, str | os.PathLike):
        return False
    given = os.fspath(data).lower()
    return given.endswith((*CSV, *PARQUET)) or os.path.isdir(given) or given.split("://")[0] in ("s3a", "hdfs", "gs")


def far_input(engine: Engine, data: Any, options: ReadOptions | None) -> SparkInput:
    """A table that lies in Spark; nothing of it is read yet."""
    assert isinstance(engine, SparkEngine)
    return data if isinstance(data, SparkInput) else read_spark(data, options, engine.running)


def publish_far(
    data: Any,
    schema: Schema,
    method: Method,
    *,
    require: Sequence[Checkable],
    seed: int | None,
    engine: Engine,
    options: ReadOptions | None,
    policy: Policy,
    asked: bool,
    ledger: bool,
    at: Any,
) -> Run:
    """Anonymise a table that lies in Spark and verify the result.

    ``asked`` says whether somebody named the policy, ``ledger`` whether there is one.
    """
    from undercover.verbs.publish import of_input, publish_table

    if ledger:
        raise ParameterError("A ledger recognises people by rows read here, and Spark reads them there. Leave it out.")
    given = at("read", far_input, engine, data, options, told="starting Spark")
    _check_said(given.frame, schema)
    table = at("encode", engine.encode, given, schema, told="encoding")
    by_chance = check_cells(table, given.names, partial(_named, given.frame, schema.identifiers), numbered=False)
    check_policy(policy, table, asked=asked)
    randomness = Secret() if seed is None else Randomness(seed)
    try:
        run = publish_table(table, method, require=require, engine=engine, randomness=randomness, at=at)
    finally:
        let_go(table)
    source = {**given.source, "rows": table.n_input, "columns": given.names, **run.source}
    source["options"] = asdict(given.options)
    source["digest"] = dict.fromkeys(schema.published, "")  # rows have no order by which a table is known again
    source |= {"by_chance": by_chance} if by_chance else {}
    source |= {"people": {"searched": False}} if table.schema.unit is None else {}
    if run.schema is not table.schema:
        source["asked"] = schema_to_mapping(schema)
    warnings = (*run.warnings, *of_input(table, given.names, (), run, given.notes))
    writing = published_writing(given.writing, run.release.tables)
    release = run.release.changed(frame="spark", writing=writing)
    return replace(run, release=release, source=source, warnings=warnings, policy=policy)


def _named(frame: Any, identifiers: Sequence[str], texts: Words) -> dict[str, Named]:
    """Which texts the identifiers name: texts go to the rows, and the numbers of those that are named come back."""
    held = [name for name in identifiers if name in frame.columns]
    rows = frame.select(*map(quoted, held)).mapInArrow(partial(_naming, texts), _NUMBERS).distinct().collect()
    found = {name: Named.nothing(len(texts)) for name in held}
    for row in rows:
        named = found[held[row.identifier]]
        (named.whole if row.whole else named.beside)[row.text] = True
    return found


def _naming(texts: Words, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for place, column in enumerate(batch.columns):
            found = texts.named_by(column)
            for whole, there in ((True, found.whole), (False, found.beside)):
                text = np.flatnonzero(there)
                same = {"identifier": np.full(len(text), place), "text": text, "whole": np.full(len(text), whole)}
                yield pa.record_batch({name: pa.array(values) for name, values in same.items()})


def _check_said(frame: Any, schema: Schema) -> None:
    """Refuse words about the table that have an identifier of somebody in it."""
    held = [name for name in schema.identifiers if name in frame.columns]
    if held and (schema.said["about"] or schema.said["columns"]):
        told = frame.select(*map(quoted, held)).mapInArrow(partial(_said, schema), "problem string").distinct()
        problems = sorted(row.problem for row in told.collect())
        if problems:
            raise SchemaError(problems)


def _said(schema: Schema, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        try:
            check_said(schema, pa.Table.from_batches([batch]))
        except SchemaError as error:
            yield pa.record_batch({"problem": pa.array(error.problems, pa.string())})
