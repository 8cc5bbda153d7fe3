"""With the spec in the private folder and the same table, the release is made once more, cell by cell."""

import pyarrow as pa
import pytest

import undercover as uc
from both_ways import read
from undercover.io.csv.text import write_csv
from undercover.io.plain import as_json
from undercover.io.release.folder import save
from undercover.io.source import ReadOptions
from undercover.io.spec.load import load_spec, resolve
from undercover.io.spec.write import quoted, spec_files, written
from undercover.model.hierarchy import Hierarchy
from undercover.parameters import make

DOMAIN = ("angina", "cold", "flu", "gout", "rash, dry")
AGES = Hierarchy([(str(age), f"{age // 10}0s", "*") for age in range(20, 60)])
COLUMNS = {
    "age": uc.Column(hierarchy=AGES, weight=2.5),
    'si "ze"': uc.Column(kind="ordinal", domain=("S", "M", "L")),
    "ill": uc.Column(domain=DOMAIN),
}

METHODS = {
    "mondrian": uc.Mondrian(k=4, l=2),
    "strict": uc.Mondrian(k=4, t=0.9),
    "anatomy": uc.Anatomy(l=2),
    "incognito": uc.Incognito(k=4, suppression=0.1),
    "streamliner": uc.Streamliner(l=2, algorithm="gda", allow_unsafe=True),
    "mutual cover": uc.MutualCover(variant="paper", delta="1/3", l=3),
    "perturbed": uc.PerturbedGeneralization(k=4, p="1/3"),
    "cross-bucket": uc.CrossBucket(k=2, l=2),
    "noncentralized": uc.NonCentralized(l=2),
}


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    rows = range(120)
    data = pa.table(
        {
            "na;me": [f"person {row}" for row in rows],
            "age": [20 + (row * 7) % 40 for row in rows],
            'si "ze"': ["SML"[row % 3] for row in rows],
            "ill": [DOMAIN[(row * 3 + row // 9) % 5] for row in rows],
        }
    )
    path = tmp_path_factory.mktemp("people") / "people.csv"
    write_csv(data, path)
    return path


def again(folder, data, seed):
    spec = load_spec(folder / "private" / "spec.toml")
    given = read(data, options=spec.options)
    return uc.publish(
        given,
        resolve(spec, given.data),
        make("methods", spec.method_name, spec.method_parameters),
        require=spec.requirements,
        options=spec.options,
        seed=seed,
    )


@pytest.mark.parametrize("name", METHODS)
def test_the_spec_of_a_run_makes_it_once_more(name, people, tmp_path):
    quasi = ["age"] if name == "incognito" or name == "noncentralized" else ["age", 'si "ze"']
    columns = {column: settings for column, settings in COLUMNS.items() if column in (*quasi, "ill")}
    schema = uc.Schema(quasi_identifiers=quasi, sensitive="ill", identifiers=["na;me"], columns=columns)
    run = uc.publish(people, schema, METHODS[name], require=[uc.LDiversity(l=1)], seed=7)
    folder = save(run, tmp_path / "out")
    second = again(folder, people, 7)
    assert second.schema == run.schema
    assert as_json(second.release.parameters) == as_json(run.release.parameters)
    for first_table, second_table in zip(run.release.tables, second.release.tables, strict=True):
        assert first_table.data.equals(second_table.data)


def test_own_distances_are_written_down(people, tmp_path):
    values = [str(age) for age in range(20, 60)]
    ages = uc.Distances(values, [[abs(int(u) - int(v)) ** 0.5 for v in values] for u in values])
    sizes = uc.Distances(["S", "L", "M"], [[0, 5, 0.1], [5, 0, 1 / 3], [0.1, 1 / 3, 0]])
    columns = {"age": uc.Column(hierarchy=AGES, distance=ages), 'si "ze"': uc.Column(distance=sizes)}
    schema = uc.Schema(quasi_identifiers=["age", 'si "ze"'], sensitive="ill", identifiers=["na;me"], columns=columns)
    method = uc.MutualCover(variant="paper", delta="1/3", l=3, partition="guided", strata=["age:1"])
    run = uc.publish(people, schema, method, seed=7)
    folder = save(run, tmp_path / "out")
    assert sorted(path.name for path in (folder / "private").glob("*.csv")) == [
        "distance-2-age.csv", "distance-3-size.csv", "hierarchy-1-age.csv",
    ]  # fmt: skip
    assert uc.load(folder).schema == run.schema
    second = again(folder, people, 7)
    assert second.schema == run.schema
    assert second.release.table().equals(run.release.table())
    assert as_json(second.release.parameters) == as_json(run.release.parameters)
    changed = folder / "private" / "distance-3-size.csv"
    changed.write_text(changed.read_text().replace("5.0", "0.2"))
    assert not again(folder, people, 7).release.table().equals(run.release.table())


def test_how_a_file_was_read_is_written_down(tmp_path):
    place = tmp_path / "people.csv"
    place.write_text("age;ill\n20,5;flu\n?;cold\n31,0;flu\n", encoding="latin-1")
    options = ReadOptions(separator=";", decimal=",", encoding="latin-1", nulls=("?",))
    schema = uc.Schema(quasi_identifiers=["age"], sensitive="ill", missing="drop")
    run = uc.publish(place, schema, uc.Mondrian(k=2), options=options, seed=1)
    assert len(run.rows) == 2
    folder = save(run, tmp_path / "out")
    assert again(folder, place, 1).release.table().equals(run.release.table())


def test_columns_that_were_left_out_are_asked_for_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people = uc.datasets.census(400)
    write_csv(people, tmp_path / "people.csv")
    other = uc.publish(people, uc.Schema(quasi_identifiers=["sex"], sensitive="income"), uc.Mondrian(k=5))
    uc.save(other, tmp_path / "other")
    schema = uc.Schema(
        quasi_identifiers=["sex", "education"], sensitive="income", columns={"sex": uc.Column(kind="categorical")}
    )
    method = uc.NonCentralized(l=2, others=["other/public"])
    run = uc.publish(tmp_path / "people.csv", schema, method, seed=3)
    assert run.schema.quasi_identifiers == ("education",)
    files = spec_files(run)
    folder = save(run, tmp_path / "out")
    assert 'quasi_identifiers = ["sex", "education"]' in files["spec.toml"]
    monkeypatch.chdir(tmp_path.parent)  # the spec can be used from anywhere
    second = again(folder, tmp_path / "people.csv", 3)
    assert second.release.table().equals(run.release.table())


def test_a_changed_parameter_shows(people, tmp_path):
    schema = uc.Schema(quasi_identifiers=["age"], sensitive="ill", identifiers=["na;me"], columns={})
    run = uc.publish(people, schema, uc.Mondrian(k=4), seed=7)
    folder = save(run, tmp_path / "out")
    spec = folder / "private" / "spec.toml"
    spec.write_text(spec.read_text().replace("k = 4", "k = 30"))
    assert not again(folder, people, 7).release.table().equals(run.release.table())


def test_texts_and_values_as_toml() -> None:
    assert (quoted('say "age"'), quoted("a\x7fb")) == ('"say \\"age\\""', '"a\\u007fb"')
    assert written(["a", 1, 0.5, True, {"name": "b"}]) == '["a", 1, 0.5, true, {"name" = "b"}]'
