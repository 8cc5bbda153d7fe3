"""``undercover apply``: the recipe of a release on a new table, and where it is refused."""

import csv
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import undercover as uc
from undercover import plugins
from undercover.errors import InputError
from undercover.verbs.apply import recipe_of
from undercover.verbs.same_people import same_rows

pytestmark = pytest.mark.usefixtures("unjudged")

Command = Callable[..., Any]
DISEASES = ("flu", "cold", "asthma", "ulcer", "gout", "angina", "fever", "rash")
DOMAIN = ", ".join(f'"{name}"' for name in DISEASES)
SPEC = f"""
[roles]
quasi_identifiers = ["age", "sex", "zip"]
sensitive = "disease"
identifiers = ["name"]
[columns.age]
hierarchy = "age.csv"
[columns.disease]
domain = [{DOMAIN}]
"""


def write_people(path: Path, first: int, count: int = 240, **changed: Callable[[int], object]) -> Path:
    """People number ``first`` and following; ``changed`` replaces columns."""
    columns: dict[str, Callable[[int], object]] = {
        "name": lambda i: f"Person-{i:04d}",
        "age": lambda i: 20 + (i * 37) % 55,
        "sex": lambda i: "MF"[(i // 3) % 2],
        "zip": lambda i: f"{10000 + (i * 7919) % 900:05d}",
        "disease": lambda i: DISEASES[(i * 5 + i // 8) % 8],
        **changed,
    }
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(columns)
        writer.writerows([make(i) for make in columns.values()] for i in range(first, first + count))
    return path


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    ages = "".join(f"{age},{age // 10 * 10}s,*\n" for age in range(20, 80))
    (tmp_path / "age.csv").write_text("level0,level1,level2\n" + ages)
    path = tmp_path / "spec.toml"
    path.write_text(SPEC)
    return path


@pytest.fixture
def made(undercover: Command, spec: Path, tmp_path: Path) -> Callable[..., Path]:
    """Publish the first 240 people: ``made("mondrian", "k=5")`` is the folder."""

    def publish(method: str, *settings: str, options: tuple[object, ...] = ()) -> Path:
        data = write_people(tmp_path / "first.csv", 0)
        parameters = [part for setting in settings for part in ("--set", setting)]
        arguments = [data, "--spec", spec, "--method", method, *parameters, "--out", tmp_path / "first", *options]
        done = undercover("publish", *arguments)
        assert done.code == 0, done.err
        return tmp_path / "first"

    return publish


RECIPES = {
    "mondrian": ("k=5", "l=2", "cut=median"),
    "incognito": ("k=5", "suppression=0.1"),
    "anatomy": ("l=4",),
    "streamliner": ("l=4", "algorithm=guided", "strata=sex"),
    "mutual-cover": ("delta=1/4", "l=4"),
    "perturbed-generalization": ("k=6", "rho=0.2,0.45", "skew=0.3"),
    "cross-bucket": ("k=2", "l=4"),
    "noncentralized": ("l=2",),
}


def test_every_method_has_a_recipe_here() -> None:
    assert set(RECIPES) == set(plugins.BUILT_IN["methods"])


@pytest.mark.parametrize("method", RECIPES)
def test_the_recipe_of_every_method_carries_over(
    undercover: Command, made: Callable[..., Path], tmp_path: Path, method: str
) -> None:
    folder = made(method, *RECIPES[method])
    data = write_people(tmp_path / "second.csv", 1000, 320)
    done = undercover("apply", folder, "--to", data, "--out", tmp_path / "second", "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    before, after = (
        json.loads((tmp_path / name / "public" / "release.json").read_text()) for name in ("first", "second")
    )
    asked = [
        {key: value for key, value in one["method"]["parameters"].items() if key != "used"} for one in (before, after)
    ]
    assert asked[0] == asked[1]
    assert [claim["name"] for claim in before["guarantees"]] == [claim["name"] for claim in after["guarantees"]]
    assert found["changes"]["rows"] == {"before": before_rows(folder), "after": 320 - after["suppressed_rows"]}
    assert all(claim["holds"] for claim in found["guarantees"])
    assert undercover("verify", tmp_path / "second").code == 0
    assert {"report.html", "run.json"} <= set(os.listdir(tmp_path / "second" / "private"))
    assert (tmp_path / "second" / "public" / "datasheet.html").exists()


def before_rows(folder: Path) -> int:
    return 240 - int(json.loads((folder / "public" / "release.json").read_text())["suppressed_rows"])


def test_what_changes_is_said_in_words(undercover: Command, made: Callable[..., Path], tmp_path: Path) -> None:
    folder = made("mondrian", "k=5", options=("--require", "distinct-l=2"))
    data = write_people(tmp_path / "second.csv", 1000, 300, town=lambda i: "Bonn")
    done = undercover("apply", folder, "--to", data, "--out", tmp_path / "second")
    assert done.code == 0, done.err
    assert "mondrian, k=5: the recipe of" in done.out
    assert "300 rows (240 before) in" in done.out
    assert "All 2 promises hold, too." in done.out
    assert "l-diversity (required)" in done.out
    assert "Columns the first table did not have are not published: `town`." in done.out
    assert "releases may learn more" not in done.err  # identifiers were compared: these are other people
    assert "Person-" not in done.out + done.err


def test_a_requirement_that_fails_on_the_new_table_is_exit_code_3(
    undercover: Command, made: Callable[..., Path], tmp_path: Path
) -> None:
    folder = made("mondrian", "k=5", options=("--require", "distinct-l=3"))
    data = write_people(tmp_path / "second.csv", 1000, disease=lambda i: DISEASES[i % 2])
    done = undercover("apply", folder, "--to", data, "--out", tmp_path / "second")
    assert done.code == 3
    assert "does not carry over to the new table: What was required does not hold: l-diversity asks for 3" in done.err
    assert not (tmp_path / "second").exists()
    few = write_people(tmp_path / "few.csv", 1000, 4)
    done = undercover("apply", folder, "--to", few, "--out", tmp_path / "second")
    assert (done.code, "has only 4 rows" in done.err) == (3, True)


def test_everything_that_does_not_fit_is_named_together(
    undercover: Command, made: Callable[..., Path], tmp_path: Path
) -> None:
    folder = made("mondrian", "k=5")
    data = write_people(
        tmp_path / "second.csv", 1000, age=lambda i: 18 + i % 60, disease=lambda i: ("flu", "plague")[i % 2]
    )
    text = data.read_text().replace("name,age,sex,zip,disease", "name,age,sexx,zip,disease")
    data.write_text(text)
    done = undercover("apply", folder, "--to", data, "--out", tmp_path / "second")
    assert done.code == 2
    assert "Column `sex` of the recipe is not in the new table. Did you mean `sexx`?" in done.err
    assert "The hierarchy of `age` does not cover 2 values (" in done.err
    assert "`undercover hierarchy` makes one for a whole range" in done.err
    assert "outside its declared domain: 1 value (" in done.err
    assert not (tmp_path / "second").exists()


def test_kinds_are_those_of_the_first_table(undercover: Command, made: Callable[..., Path], tmp_path: Path) -> None:
    folder = made("mondrian", "k=5")
    run = json.loads((folder / "private" / "run.json").read_text())
    assert run["source"]["kinds"]["zip"] == "numeric"
    data = write_people(tmp_path / "second.csv", 1000, zip=lambda i: f"A{i % 9}")
    done = undercover("apply", folder, "--to", data, "--out", tmp_path / "second")
    assert (done.code, "Column `zip` is declared numeric" in done.err) == (2, True)


def test_codes_stay_codes_where_the_new_ones_look_like_numbers(undercover: Command, spec: Path, tmp_path: Path) -> None:
    first = write_people(tmp_path / "first.csv", 0, zip=lambda i: f"{i % 7:05d}")
    arguments = [first, "--spec", spec, "--method", "mondrian", "--set", "k=5", "--out", tmp_path / "first"]
    assert undercover("publish", *arguments).code == 0
    second = write_people(tmp_path / "second.csv", 1000, zip=lambda i: f"{10000 + i % 7}")
    assert undercover("apply", tmp_path / "first", "--to", second, "--out", tmp_path / "second").code == 0
    run = json.loads((tmp_path / "second" / "private" / "run.json").read_text())
    assert run["source"]["kinds"]["zip"] == "ordinal"  # codes in their order; as numbers they would be numeric
    assert run["schema"]["columns"]["zip"]["domain"] == [str(10000 + i) for i in range(7)]


PERTURBED = RECIPES["perturbed-generalization"]


def test_perturbed_generalization_is_made_once_of_a_table(
    undercover: Command, made: Callable[..., Path], tmp_path: Path
) -> None:
    folder = made("perturbed-generalization", *PERTURBED)
    done = undercover("apply", folder, "--to", tmp_path / "first.csv", "--out", tmp_path / "second", "--force")
    assert done.code == 2
    assert "The new table is the one the recipe was made for." in done.err
    assert "one release per table" in done.err
    assert not (tmp_path / "second").exists()


def test_rows_are_the_same_where_whole_rows_are_not_where_each_column_is() -> None:
    schema = uc.Schema(quasi_identifiers=["age", "sex"])
    tables = (
        {"age": [34, 28], "sex": ["f", "m"]},
        {"age": [28, 34], "sex": ["f", "m"]},
        {"age": [28, 34], "sex": ["m", "f"]},
    )
    first, other, turned = (uc.Table.from_arrow(pa.table(columns), schema) for columns in tables)
    assert (same_rows(first, other), same_rows(first, turned)) == (False, True)


def test_the_same_people_are_recognised_in_another_order_and_format(
    undercover: Command, made: Callable[..., Path], tmp_path: Path
) -> None:
    folder = made("perturbed-generalization", *PERTURBED)
    rows = list(csv.DictReader((tmp_path / "first.csv").read_text().splitlines()))[::-1]
    for number, row in enumerate(rows):
        row["name"] = f"p{number}"  # a pseudonym does not make other people of them
        row["age"] = int(row["age"])  # type: ignore[assignment]
        row["zip"] = int(row["zip"])  # type: ignore[assignment]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "again.parquet")
    done = undercover("apply", folder, "--to", tmp_path / "again.parquet", "--out", tmp_path / "second")
    assert (done.code, "is the one the recipe was made for" in done.err) == (2, True)


def test_perturbed_generalization_refuses_people_of_the_first_table(
    undercover: Command, made: Callable[..., Path], tmp_path: Path
) -> None:
    folder = made("perturbed-generalization", *PERTURBED)
    data = write_people(tmp_path / "second.csv", 230)  # ten of them are in both
    done = undercover("apply", folder, "--to", data, "--out", tmp_path / "second")
    assert done.code == 2
    assert "10 of the 240 rows have a `name` that is in the recipe's first table, too" in done.err
    assert "Person-" not in done.err


def test_perturbed_generalization_wants_to_know_the_first_table(
    undercover: Command, made: Callable[..., Path], tmp_path: Path
) -> None:
    folder = made("perturbed-generalization", *PERTURBED)
    moved = (tmp_path / "first.csv").rename(tmp_path / "archive.csv")
    data = write_people(tmp_path / "second.csv", 1000)
    done = undercover("apply", folder, "--to", data, "--out", tmp_path / "second")
    assert (done.code, "--original …" in done.err) == (2, True)
    done = undercover("apply", folder, "--to", data, "--original", moved, "--out", tmp_path / "second")
    assert done.code == 0, done.err


def test_a_neighbour_of_the_first_table_is_refused(
    undercover: Command, made: Callable[..., Path], tmp_path: Path
) -> None:
    folder = made("noncentralized", *RECIPES["noncentralized"])
    data = write_people(tmp_path / "second.csv", 239)
    done = undercover("apply", folder, "--to", data, "--out", tmp_path / "second")
    assert (done.code, "1 of the 240 rows" in done.err, "among `others`" in done.err) == (2, True, True)


@pytest.mark.parametrize("method", ["mondrian", "anatomy"])
def test_other_methods_warn_of_people_in_both(
    undercover: Command, made: Callable[..., Path], tmp_path: Path, method: str
) -> None:
    folder = made(method, *RECIPES[method])
    data = write_people(tmp_path / "second.csv", 200)
    done = undercover("apply", folder, "--to", data, "--out", tmp_path / "second")
    assert done.code == 0
    assert "warning: 40 of the 240 rows have a `name`" in done.err
    assert "whoever has both releases may learn more" in (tmp_path / "second" / "private" / "report.html").read_text()
    assert "may learn more about them" not in (tmp_path / "second" / "public" / "datasheet.html").read_text()


def test_a_changed_release_is_no_recipe(undercover: Command, made: Callable[..., Path], tmp_path: Path) -> None:
    folder = made("mondrian", "k=5")
    data = write_people(tmp_path / "second.csv", 1000)
    manifest = folder / "public" / "release.json"
    manifest.write_text(manifest.read_text().replace('"k": 5', '"k": 2'))
    done = undercover("apply", folder, "--to", data, "--out", tmp_path / "second")
    assert (done.code, "`method` in release.json is not what the private run wrote" in done.err) == (4, True)
    assert not (tmp_path / "second").exists()


def test_folders(undercover: Command, made: Callable[..., Path], tmp_path: Path) -> None:
    folder = made("mondrian", "k=5", options=("--format", "sav"))
    data = write_people(tmp_path / "second.csv", 1000)
    arguments = ("apply", folder, "--to", data, "--seed", 7)
    done = undercover(*arguments, "--out", folder, "--force")
    assert (done.code, "holds the recipe itself" in done.err) == (2, True)
    assert undercover(*arguments, "--out", tmp_path / "second").code == 0
    assert "table.sav" in os.listdir(tmp_path / "second" / "public")
    assert json.loads((tmp_path / "second" / "private" / "run.json").read_text())["source"]["recipe"]["rows"] == 240
    again = undercover(*arguments, "--out", tmp_path / "second")
    assert (again.code, "--force" in again.err) == (2, True)
    assert undercover(*arguments, "--out", tmp_path / "second", "--force", "--format", "csv").code == 0
    assert "table.csv" in os.listdir(tmp_path / "second" / "public")
    done = undercover("apply", folder / "public", "--to", data, "--out", tmp_path / "third")
    assert (done.code, "no private/run.json" in done.err) == (2, True)


def test_a_recipe_of_a_recipe_is_the_same(undercover: Command, made: Callable[..., Path], tmp_path: Path) -> None:
    folder = made("mondrian", "k=5", options=("--require", "distinct-l=2"))
    for number, (source, target) in enumerate([(folder, "second"), (tmp_path / "second", "third")], 1):
        data = write_people(tmp_path / f"{target}.csv", 1000 * number)
        assert undercover("apply", source, "--to", data, "--out", tmp_path / target).code == 0
    first, third = (recipe_of(uc.load(tmp_path / name)) for name in ("first", "third"))
    assert first == third
    assert first.requirements == (uc.LDiversity(l=2, form="distinct"),)


def test_frames_in_python() -> None:
    people = uc.datasets.census(1500)
    schema = uc.datasets.census_schema(hierarchies=False)
    run = uc.publish(people.slice(0, 1000), schema, uc.PerturbedGeneralization(k=6, p=0.3))
    with pytest.raises(InputError, match="is the one the recipe was made for"):
        uc.apply(run, people.slice(0, 1000))
    second = uc.apply(run, people.slice(1000))
    assert len(second.rows) == 500
    assert any(warning.startswith("No column is an identifier") for warning in second.warnings)
