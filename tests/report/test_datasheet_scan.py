"""What a recipient gets of every kind of release is searched for people; undercover.testing has the rule."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import marked_people as marked
import pytest

import undercover as uc
from undercover.forms import read
from undercover.io.release.manifest import write_tables
from undercover.pages.datasheet import datasheet_summary
from undercover.pages.render import datasheet_html
from undercover.testing.public_scan import following, leaked_values, scan_release
from undercover.verbs.report import summarize

pytestmark = pytest.mark.usefixtures("unjudged")

FORMATS = ("csv", "parquet")
CONTRACT = {"release.json", "datasheet.html", "datapackage.json"}


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file that is to be published, in a folder that is not to be told either."""
    return marked.write_people(tmp_path_factory.mktemp("jqfolder"))


@pytest.fixture(scope="module")
def secrets(vault: Path) -> dict[str, set[str]]:
    originals = marked.people()
    values = {name: set(map(str, originals.column(name).to_pylist())) for name in originals.column_names}
    return {
        **values,
        "name of an identifier": {"hqholder"},
        "name of a column without a role": {"yqremark"},
        "seed": {str(marked.SEED)},
        "path": {vault.stem, "jqfolder"},
        "digest of the input": {hashlib.sha256(vault.read_bytes()).hexdigest()},
        "weight": {str(marked.WEIGHT)},
    }


@cache
def summary_of(name: str, source: Path) -> dict[str, Any]:
    """What the private report says: attacks and measures are made once, whatever the format."""
    return summarize(marked.published(name, "first", source))


def public_of(name: str, which: str, folder: Path, file_format: str = "csv") -> tuple[str, dict[str, Any]]:
    """Datasheet and manifest, without the attacks that saving makes."""
    release = marked.published(name, which).release
    folder.mkdir(exist_ok=True)
    write_tables(release, folder, format=file_format)
    page = datasheet_html(datasheet_summary(release, file_format=file_format))
    return page, json.loads((folder / "release.json").read_text())


def findings(
    public: tuple[str, dict[str, Any]],
    other: tuple[str, dict[str, Any]],
    secrets: dict[str, set[str]],
    name: str,
    folder: Path | None = None,
) -> list[str]:
    """Everything that is wrong with a datasheet and a manifest, beside the tables of its folder."""
    settings = marked.RECIPES[name].schema.columns.values()
    public_values = {value for column in settings for value in column.domain or ()}
    public_values |= {
        str(label) for column in settings if column.hierarchy for row in column.hierarchy.rows for label in row
    }
    told = following(folder) if folder else ()
    return scan_release(public, other, secrets=secrets, declared=public_values, following=told)


@pytest.mark.parametrize("file_format", FORMATS)
@pytest.mark.parametrize("name", marked.RECIPES)
def test_no_release_tells_of_people(
    name: str, file_format: str, vault: Path, secrets: dict[str, set[str]], tmp_path: Path
) -> None:
    run = marked.published(name, "first", vault)
    public = uc.save(run, tmp_path / "out", format=file_format, summary=summary_of(name, vault)) / "public"
    tables = {f"{table.name}.{file_format}" for table in run.release.tables}
    assert set(os.listdir(public)) == CONTRACT | tables
    given = (public / "datasheet.html").read_text(), json.loads((public / "release.json").read_text())
    other = public_of(name, "second", tmp_path, file_format)
    assert findings(given, other, secrets, name, public) == []
    # The same search finds the values where they are: the private folder, or the published cells themselves.
    private = (tmp_path / "out" / "private" / "run.json").read_text()
    assert {"path", "seed", "digest of the input"} <= set(leaked_values(private, secrets))


def test_every_method_is_looked_at() -> None:
    from undercover import plugins

    assert {recipe.method("first").name for recipe in marked.RECIPES.values()} == set(plugins.BUILT_IN["methods"])


SPEC = f"""
[roles]
identifiers = ["hqholder"]
quasi_identifiers = ["years", "place"]
sensitive = "illness"
[columns.years]
weight = {marked.WEIGHT}
[columns.illness]
domain = {list(marked.ILLNESSES)}
[method]
"""


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("mondrian", 'name = "mondrian"\nk = 12'),
        ("anatomy", 'name = "anatomy"\nl = 6'),
        ("perturbed boxes", 'name = "perturbed-generalization"\nk = 12\np = 0.5\ncells = "boxes"'),
    ],
)
def test_nor_does_one_made_by_the_command_line(
    name: str, method: str, vault: Path, secrets: dict[str, set[str]], tmp_path: Path
) -> None:
    from typer.testing import CliRunner

    from undercover.cli.main import app

    spec = tmp_path / "spec.toml"
    spec.write_text(SPEC + method + "\n")
    arguments = [
        "publish",
        vault,
        "--spec",
        spec,
        "--out",
        tmp_path / "out",
        "--seed",
        marked.SEED,
        "--format",
        "parquet",
    ]
    done = CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False, standalone_mode=False)
    assert done.exit_code == 0, done.output
    public = tmp_path / "out" / "public"
    given = (public / "datasheet.html").read_text(), json.loads((public / "release.json").read_text())
    assert set(os.listdir(public)) == CONTRACT | {table["file"] for table in given[1]["tables"]}
    assert findings(given, public_of(name, "second", tmp_path, "parquet"), secrets, name, public) == []


def test_people_a_row_does_not_stand_for_are_found(secrets: dict[str, set[str]], tmp_path: Path) -> None:
    first, second = (public_of("perturbed", which, tmp_path / which) for which in ("first", "second"))
    people = read(marked.published("perturbed", "first").release).sampling["people"]
    told = f'<data value="{people}">'
    assert findings(first, second, secrets, "perturbed", tmp_path / "first") == []
    wrong = first[0].replace(told, told.replace(str(people), str(people + 1)))
    assert f"a figure: {people + 1}" in findings((wrong, first[1]), second, secrets, "perturbed", tmp_path / "first")


def test_tables_of_others_are_named_without_their_place(tmp_path: Path) -> None:
    neighbour = uc.publish(marked.people(), marked.schema("place"), uc.Incognito(k=marked.K))
    (tmp_path / "jqelsewhere").mkdir()
    uc.save(neighbour, tmp_path / "jqelsewhere" / "census")
    method = uc.NonCentralized(l=2, others=(tmp_path / "jqelsewhere" / "census" / "public",))
    roles = marked.RECIPES["noncentralized beside"].schema
    public = uc.save(uc.publish(marked.people(), roles, method), tmp_path / "out") / "public"
    for file in ("release.json", "datasheet.html"):
        text = (public / file).read_text()
        assert "census" in text
        assert leaked_values(text, {"place": {"jqelsewhere", str(tmp_path)}}) == []


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (0, '<data value="0">0</data>'),
        (3, "fewer than 12"),
        (11, "fewer than 12"),
        (12, '<data value="12">12</data>'),
        (1200, '<data value="1200">1,200</data>'),
    ],
)
def test_few_suppressed_rows_are_not_counted_out(rows: int, said: str) -> None:
    release = replace(marked.published("incognito with l").release, suppressed_rows=rows)
    assert f"<dt>Rows not published</dt><dd>{said} suppressed</dd>" in datasheet_html(datasheet_summary(release))


def on_page(fault: str) -> Any:
    """Puts a fault at the end of a page."""
    return lambda page, manifest: (page.replace("</main>", f"{fault}</main>"), manifest)


def also(*place: Any, **more: Any) -> Any:
    """Puts more keys somewhere into a manifest."""

    def faulty(page: str, manifest: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        changed: Any = json.loads(json.dumps(manifest))
        part = changed
        for key in place:
            part = part[key]
        part.update(more)
        return page, changed

    return faulty


DIGEST = "the digest"
GROUPS = list(range(20)) * 12
FAULTS = {
    "a cell in the text": (on_page("<p>about 72005</p>"), "page: years"),
    "a cell with separators": (on_page("<p>72,005</p>"), "page: years"),
    "a cell as a figure": (on_page('<data value="72005.0">–</data>'), "page: years"),
    "an end of a range": (on_page("<code>[72005, 72009]</code>"), "page: years"),
    "a cell in an attribute": (on_page('<p title="Zqmoor-1a">x</p>'), "page: place"),
    "a declared value": (on_page("<p>Oqgrade-3</p>"), "page: grade"),
    "a sensitive value in a comment": (on_page("<!-- Xqill-3a -->"), "page: illness"),
    "a sensitive value in a script": (on_page("<script>const a = 'Xqill-3a'</script>"), "page: illness"),
    "a sensitive number": (on_page('<meter value="51007">x</meter>'), "page: pay"),
    "a value in entities": (on_page("<p>&#90;qmoor-1a</p>"), "page: place"),
    "a value across tags": (on_page("<p>Zqmo<b>or-1a</b></p>"), "page: place"),
    "an unchanged value": (on_page("<p>Uqwave-1a</p>"), "page: wave"),
    "an identifier": (on_page("<p>Vqname-a17</p>"), "page: hqholder"),
    "its column": (on_page("<li>hqholder</li>"), "page: name of an identifier"),
    "a column without a role": (on_page("<li>yqremark</li>"), "page: name of a column without a role"),
    "its value": (on_page("<li>Yqnote-a9</li>"), "page: yqremark"),
    "the seed": (on_page(f"<p>seed {marked.SEED}</p>"), "page: seed"),
    "the path": (on_page(f"<p>/home/me/{marked.FILE}</p>"), "page: path"),
    "the digest": (lambda page, manifest: (page + f"<i>{DIGEST}</i>", manifest), "page: digest of the input"),
    "a weight": (on_page(f"<p>years: {marked.WEIGHT}</p>"), "page: weight"),
    "few suppressed": (on_page("<p>3 suppressed</p>"), "of this table: '3 suppressed'"),
    "few in words": (on_page("<p>three suppressed</p>"), "of this table: 'three suppressed'"),
    "as many as a number of the recipe": (on_page("<p>only 1 in a class</p>"), "of this table: 'only 1 in a class'"),
    "few as a figure": (on_page('<data value="3">3</data> suppressed'), "a figure: 3"),
    "few under a large figure": (
        lambda page, manifest: (page.replace('<data value="237">237</data>', '<data value="237">3</data>'), manifest),
        "a figure shown as '3': 237",
    ),
    "sizes of classes": (
        on_page('<svg><rect height="7"/><text>12–14</text></svg>'),
        "of this table: 'height=7'",
    ),
    "groups": (on_page(f'<p data-groups="{GROUPS}">'), f"of this table: 'data-groups={GROUPS}'"),
    "a cell in a warning": (also(warnings=["Xqill-3a is rare."]), "manifest: illness"),
    "a cell in a note": (also("guarantees", 0, note="72005 stands alone"), "manifest: years"),
    "a value that was not declared": (
        also("guarantees", 0, domain=["Xqill-99"]),
        "manifest: not declared: Xqill-99",
    ),
    "a seed in the parameters": (also("method", "parameters", seed=marked.SEED), "manifest: seed"),
    "a path among what was used": (also("method", "parameters", "used", source=marked.FILE), "key source"),
    "groups in the manifest": (also(groups=GROUPS), "key groups"),
    "sizes in the manifest": (also("method", "parameters", "used", sizes=[3, 4]), "key sizes"),
    "counts in a column": (also("tables", 0, "columns", 0, distinct=7), "key distinct"),
    "rows of a table": (also("tables", 0, rows=5), "5 rows"),
    "a class too small": (also("guarantees", 0, actual=5), "size 5"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_scan_finds_a_planted(fault: str, secrets: dict[str, set[str]], tmp_path: Path) -> None:
    name = "incognito with suppression"
    first, second = (public_of(name, which, tmp_path) for which in ("first", "second"))
    assert findings(first, second, secrets, name) == []
    (digest,) = secrets["digest of the input"]
    change, expected = FAULTS[fault]
    page, manifest = change(*first)
    assert expected in findings((page.replace(DIGEST, digest), manifest), second, secrets, name)
