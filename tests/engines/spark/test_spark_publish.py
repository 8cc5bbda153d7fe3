"""Tables that lie in Spark are published as they are everywhere: same values, same promises, same sentences."""

import os
import signal
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from far_people import SCHEMA, people
from typer.testing import CliRunner

import undercover as uc
from undercover import plugins
from undercover.cli.main import app
from undercover.engines.spark.engine import SparkEngine
from undercover.errors import DataError, InputError, ParameterError, UndercoverError, UnreachableError
from undercover.io.source import ReadOptions
from undercover.io.spark import SparkInput, read_spark
from undercover.model.run import Draft
from undercover.randomness import Randomness
from undercover.testing import check_engine
from undercover.testing.holding import examples_of
from undercover.verbs.publish import publish_table

pytestmark = [pytest.mark.usefixtures("unjudged"), pytest.mark.long]
MONDRIAN = uc.Mondrian(k=5)


@pytest.fixture(scope="module")
def run(frame: Any, engine: SparkEngine) -> uc.Run:
    return uc.publish(frame, SCHEMA, MONDRIAN, engine=engine, seed=3)


@pytest.fixture(scope="module")
def persons(frame: Any, engine: SparkEngine) -> uc.Table:
    schema = replace(SCHEMA, identifiers=(), columns={"ill": uc.Column(domain=tuple(f"ill {n}" for n in range(8)))})
    return engine.encode(SparkInput(frame, {"path": None}, ReadOptions()), schema)


@pytest.fixture(scope="module")
def far(frame: Any, engine: SparkEngine) -> uc.Table:
    return engine.encode(SparkInput(frame, {"path": None}, ReadOptions()), SCHEMA)


def cells(run: uc.Run) -> list[Any]:
    return [table.data.to_pylist() for table in run.release.tables]


def test_a_frame_goes_in_and_a_frame_comes_out(run: uc.Run) -> None:
    published = run.release.table()
    assert type(published).__module__.startswith("pyspark.sql")
    assert published.columns == ["age", "job", "ill"]
    assert sorted(row.ill for row in published.collect()) == sorted(people().column("ill").to_pylist())
    assert run.diagnostics["parts"] == {"asked": 2, "made": 2, "refused": 0}
    assert run.verification.holds
    assert run.source["rows"] == len(run.rows) == 240


def test_every_row_lies_in_its_cell_and_the_report_attacks_it(run: uc.Run) -> None:
    compared = uc.verify(run, original=run.original)
    assert compared.holds
    assert any(finding.name == "rows-covered" for finding in compared.findings)
    assert run.original is not None
    assert run.attacks
    warnings = " ".join(run.warnings)
    assert "Identifier `name` repeats: 4 of 240 rows share theirs." in warnings


def test_the_order_of_rows_and_their_partitions_change_nothing(
    run: uc.Run, far: uc.Table, session: Any, engine: SparkEngine
) -> None:
    turned = people().take(np.random.default_rng(1).permutation(240))
    again = uc.publish(session.createDataFrame(turned).repartition(5), SCHEMA, MONDRIAN, engine=engine, seed=3)
    assert cells(again) == cells(run)
    assert again.groups.labels.tolist() == run.groups.labels.tolist()
    assert cells(publish_table(far, MONDRIAN, engine=engine, randomness=Randomness(4))) != cells(run)


def test_files_and_catalogue_tables_are_the_same_table(
    far: uc.Table, frame: Any, session: Any, engine: SparkEngine, tmp_path: Path
) -> None:
    pa.parquet.write_table(people(), tmp_path / "people.parquet")
    frame.createOrReplaceTempView("everybody")
    for source in (tmp_path / "people.parquet", "spark://everybody"):
        found = engine.encode(read_spark(source, None, session), SCHEMA)
        for name in SCHEMA.published:
            assert found[name].domain.values.equals(far[name].domain.values), source
            assert found[name].codes.tolist() == far[name].codes.tolist(), source
    with pytest.raises(InputError, match="Spark's catalogue has no table `nobody`"):
        uc.publish("spark://nobody", SCHEMA, MONDRIAN, engine=engine)
    (tmp_path / "people.json").touch()
    with pytest.raises(InputError, match="cannot be read by the Spark engine"):
        read_spark(tmp_path / "people.json", None, session)


@pytest.mark.parametrize("name", [name for name in plugins.names("methods") if name != "noncentralized"])
def test_every_method_runs_and_keeps_its_promise(name: str, persons: uc.Table, engine: SparkEngine) -> None:
    method = examples_of(name, "safe", "unsafe")[0]
    made = publish_table(persons, method, engine=engine, randomness=Randomness(5))
    assert made.verification.holds is not False
    assert made.release.tables[0].rows > 0
    assert made.diagnostics["parts"]["made"] == 2


@dataclass(frozen=True, kw_only=True)
class Killed:
    """Mondrian whose process dies the first time that a part is made."""

    name: ClassVar[str] = "mondrian"
    algorithm_safe: ClassVar[bool] = True
    marker: str
    made_by: int

    def claims(self, table: uc.Table) -> tuple[Any, ...]:
        return MONDRIAN.claims(table)

    def anonymize(self, table: uc.Table, **options: Any) -> Draft:
        if os.getpid() != self.made_by and not Path(self.marker).exists():
            Path(self.marker).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return MONDRIAN.anonymize(table, **options)


def test_a_worker_that_is_killed_changes_nothing(far: uc.Table, engine: SparkEngine, tmp_path: Path) -> None:
    method = Killed(marker=str(tmp_path / "killed"), made_by=os.getpid())
    found = publish_table(far, method, engine=engine, randomness=Randomness(3))
    assert (tmp_path / "killed").exists()
    assert cells(found) == cells(publish_table(far, MONDRIAN, engine=engine, randomness=Randomness(3)))


def test_a_part_that_is_not_eligible_makes_the_whole_fall_back(session: Any, engine: SparkEngine) -> None:
    ages = people()["age"].to_pylist()
    ills = [f"ill {0 if age < 54 and place % 10 < 8 else 1 + place % 7}" for place, age in enumerate(ages)]
    skewed = session.createDataFrame(people().set_column(3, "ill", pa.array(ills)))
    schema = replace(SCHEMA, quasi_identifiers=("age",))
    found = uc.publish(skewed, schema, uc.Anatomy(l=2), engine=engine, seed=1)
    assert found.diagnostics["parts"] == {"asked": 2, "made": 1, "refused": 1}
    assert not found.release.algorithm_safe
    assert found.original is not None
    with pytest.raises(UnreachableError, match="l=9 cannot be reached"):
        publish_table(found.original, uc.Anatomy(l=9), engine=engine)


BAD: dict[str, tuple[pa.Table, uc.Schema]] = {
    "missing values": (people().append_column("gap", pa.array([None, 5] * 120)), replace(SCHEMA, sensitive=("gap",))),
    "outside bins": (
        people(),
        replace(SCHEMA, quasi_identifiers=("job",), sensitive=("age",), columns={"age": uc.Column(bins=(30, 40, 60))}),
    ),
    "a gap in a hierarchy": (
        people(),
        replace(SCHEMA, columns={"job": uc.Column(hierarchy=uc.Hierarchy([["job 1", "*"], ["job 2", "*"]]))}),
    ),
    "no such column": (people(), replace(SCHEMA, quasi_identifiers=("agee",))),
    "an empty table": (people().slice(0, 0), SCHEMA),
    "an identifier in words": (people(), replace(SCHEMA, about={"contact": "Ask Xqname-17 for it."})),
}


@pytest.mark.parametrize("what", list(BAD))
def test_bad_input_is_told_as_everywhere(what: str, session: Any, engine: SparkEngine) -> None:
    data, schema = BAD[what]
    with pytest.raises(UndercoverError) as here:
        uc.publish(data, schema, MONDRIAN)
    with pytest.raises(type(here.value)) as there:
        uc.publish(session.createDataFrame(data), schema, MONDRIAN, engine=engine)
    told = str(here.value).replace("The frame", "The table")
    assert str(there.value) == told


def test_a_cell_that_names_somebody_is_refused_where_it_lies(session: Any, engine: SparkEngine, tmp_path: Path) -> None:
    data = people()
    jobs = data["job"].to_pylist()
    named = data.set_column(2, "job", pa.array(["as Xqname-17", *jobs[1:]]))
    with pytest.raises(DataError, match="`job`: 1 cell with a value of the identifier `name` beside other words"):
        uc.publish(session.createDataFrame(named), SCHEMA, MONDRIAN, engine=engine)
    (tmp_path / "people.csv").write_text('name,age,job,ill\nAda,36,cook,flu\nBo,31,"cook,flu\nCy,44,cook,flu\n')
    with pytest.raises(DataError, match="line 3: a quotation mark opens a cell here"):
        uc.publish(tmp_path / "people.csv", SCHEMA, MONDRIAN, engine=engine)


def test_missing_values_are_dropped_or_kept_as_everywhere(session: Any, engine: SparkEngine) -> None:
    ages = people()["age"].to_pylist()
    ages[:7] = [None] * 7
    data = people().set_column(1, "age", pa.array(ages, pa.float64()))
    dropped = engine.encode(read_spark(session.createDataFrame(data), None, session), replace(SCHEMA, missing="drop"))
    assert (dropped.n_rows, dropped.n_input) == (233, 240)
    kept = engine.encode(read_spark(session.createDataFrame(data), None, session), replace(SCHEMA, missing="category"))
    here = uc.Table.from_arrow(data, replace(SCHEMA, missing="category"))
    for name in ("age", "job", "ill"):
        assert kept[name].domain.labels == here[name].domain.labels
        assert engine.histogram(kept, name).tolist() == np.bincount(here[name].codes).tolist()
        assert np.bincount(kept[name].codes).tolist() == np.bincount(here[name].codes).tolist()


def test_what_spark_does_not_read_is_told(frame: Any, engine: SparkEngine, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"does not read `unit`. Keep one row of each person first"):
        uc.publish(frame, replace(SCHEMA, identifiers=(), unit="name"), MONDRIAN, engine=engine)
    with pytest.raises(ParameterError, match=r'published by the Spark engine: engine="spark"'):
        uc.publish(frame, SCHEMA, MONDRIAN)
    with pytest.raises(ParameterError, match="Leave it out"):
        uc.publish(frame, SCHEMA, MONDRIAN, engine=engine, ledger=tmp_path / "ledger")


def test_a_frame_is_verified_where_it_lies(run: uc.Run, session: Any) -> None:
    published = run.release.table()
    asked = [uc.KAnonymity(k=5), uc.LDiversity(l=1.2), uc.TCloseness(t=0.9)]
    here = uc.verify(run.release, also=asked).findings[-3:]
    there = uc.verify(published, also=asked, schema=SCHEMA)
    assert [finding.actual for finding in there.findings] == pytest.approx([finding.actual for finding in here])
    assert (there.rows, there.holds) == (240, True)
    alone = session.createDataFrame(pa.table({"age": ["[1, 2]"], "job": ["job 1"], "ill": ["ill 1"]}))
    broken = uc.verify(published.union(alone), also=asked[:1], schema=SCHEMA)
    assert (broken.holds, broken.findings[0].actual) == (False, 1)


def test_the_command_line_reads_csv_files_by_spark(run: uc.Run, session: Any, tmp_path: Path) -> None:
    pa.csv.write_csv(people(), tmp_path / "people.csv")
    roles = ["--identifiers", "name", "--qi", "age,job", "--sensitive", "ill"]
    asked = ["--method", "mondrian", "--set", "k=5", "--engine", "spark", "--policy", "none", "--seed", "3"]
    out = tmp_path / "out"
    found = CliRunner().invoke(app, ["publish", str(tmp_path / "people.csv"), *roles, *asked, "--out", str(out)])
    assert found.exit_code == 0, found.output
    assert uc.verify(out).holds
    saved = uc.load(out)
    assert cells(saved) == cells(run)
    assert saved.source["read_as"] == "CSV: separator ',', encoding utf-8"
    with pytest.raises(InputError, match="not the table the release was made from"):
        uc.attack(saved, original=people())


def test_the_contract_of_engines(session: Any) -> None:
    """By its name: the engine takes the session that runs."""
    check_engine("spark")
    assert SparkEngine(threads=1).running is session
