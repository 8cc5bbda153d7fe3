"""Messages in the syntax of whoever asked: options on the command line, keys of a spec, keywords in Python."""

import ast
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import undercover as uc
from undercover.errors import InputError
from undercover.forms.reading import _ROLES
from undercover.model.schema import INSENSITIVE
from undercover.wording import asked_by, from_spec, in_column, in_data, option, parameter

pytestmark = pytest.mark.usefixtures("unjudged")
Command = Callable[..., Any]
SOURCE = Path(uc.__file__).parent

# A keyword with a Python value, a call, a module; `k=5` is how the command line says it, too.
PYTHON = re.compile(
    r"\b[a-z_]+=(?:True|False|None|[\"'\[({…])|\buc\.|\bundercover\.[a-z_]+\(|\b[A-Za-z_]+\((?:\.\.\.|…|[a-z_]+=)|\w\(\)"
)
# Reached from Python alone: answers, frames, hierarchy objects, readings handed over; texts that are code or a repr.
PYTHON_ONLY = {
    "analysis",
    "compiled",
    "datasets",
    "forms/answers",
    "forms/snippets",
    "forms/buckets/reading.py",
    "forms/drawn/words.py",
    "forms/generalized/reading.py",
    "forms/perturbed/reading.py",
    "io/database.py",  # a command to install an extension of DuckDB, and SQL
    "io/source.py",  # frames
    "model/frames/rows.py",  # the transformer
    "model/queries.py",
    "pages",
    "studies/experiments",
    "studies/pipeline",  # the transformer
    "testing",
    "wording.py",
    "web/access/headers.py",  # headers
    "web/asked/answering.py",  # the same question in Python
    "web/released/packed.py",  # the same release in Python
    "web/routes/downloads.py",  # headers
}


@cache
def texts(path: Path) -> list[tuple[int, str]]:
    """Texts that somebody may be shown; what is filled into them is left out."""
    nodes = list(ast.walk(ast.parse(path.read_text())))
    unsaid = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    unsaid |= {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        shown = isinstance(node, ast.FunctionDef) and node.name in ("__repr__", "view")
        told = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "either"
        if shown or told:
            unsaid |= {id(part) for part in ast.walk(node)}
    found = []
    for node in nodes:
        if id(node) in unsaid:
            continue
        if isinstance(node, ast.JoinedStr):
            parts = (str(part.value) if isinstance(part, ast.Constant) else "§" for part in node.values)
            found.append((node.lineno, "".join(parts)))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            found.append((node.lineno, node.value))
    return found


def python_in(path: Path) -> list[str]:
    return [f"{path.name}:{line}: {text}" for line, text in texts(path) if PYTHON.search(text)]


FILES = [
    path
    for path in sorted(SOURCE.rglob("*.py"))
    if not any(path.relative_to(SOURCE).is_relative_to(part) for part in PYTHON_ONLY)
]


def test_no_message_is_written_in_python() -> None:
    # Left out: patterns, HTML, and the hint of a notebook's card at a method of the object it shows.
    found = [text for path in FILES for text in python_in(path) if not re.search(r"\\[dw]|: <|: `\.?[a-z_]+", text)]
    assert not [text for path in FILES for _, text in texts(path) if re.search(r"\{(option|parameter|in_\w+)\(", text)]
    assert found == []


def test_the_scan_finds_python(tmp_path: Path) -> None:
    planted = tmp_path / "planted.py"
    planted.write_text(
        'raise DataError(f"Say several_rows=True of {name}.")\nOTHER = "Ask AlgorithmAware() instead."\n'
        'THIRD = "Give Column(domain=…) for it."\nFINE = "k=5 cannot be reached."\n'
    )
    assert len(python_in(planted)) == 3


def refused(undercover: Command, *arguments: Any) -> str:
    done = undercover(*arguments)
    assert done.code in (2, 3), done.err
    assert not PYTHON.search(done.err), done.err
    return " ".join(done.err.split())


@pytest.fixture
def several(tmp_path: Path) -> Path:
    """People some of whom have two rows, one without a disease."""
    rows = [f"p{i // 2 if i < 8 else i},{20 + i},{'flu' if i % 2 else 'gout'}" for i in range(30)]
    place = tmp_path / "several.csv"
    place.write_text("name,age,disease\n" + "\n".join([*rows, "last,40,"]) + "\n")
    return place


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    place = tmp_path / "spec.toml"
    place.write_text(
        '[roles]\nidentifiers = "name"\nquasi_identifiers = "age"\nsensitive = "disease"\n'
        '[method]\nname = "perturbed-generalization"\nk = 3\np = 0.3\n'
        '[columns.disease]\ndomain = ["flu", "gout"]\n'
    )
    return place


ROLES = ["--qi", "age", "--sensitive", "disease", "--identifiers", "name"]
DRAWN = ["--method", "perturbed-generalization", "--set", "k=3", "--set", "p=0.3"]


def test_options_are_told_as_options(undercover: Command, several: Path, tmp_path: Path) -> None:
    said = refused(undercover, "publish", several, *ROLES, *DRAWN, "--out", tmp_path / "out")
    assert "--missing drop leaves the rows out, --missing category makes it a value." in said
    said = refused(undercover, "publish", several, *ROLES, *DRAWN, "--missing", "drop", "--out", tmp_path / "out")
    assert "domain = … under [columns.disease] of a spec (--spec)" in said
    assert "or say --set several_rows=true to be promised something per row only" in said


def test_what_a_spec_says_is_told_as_its_key(undercover: Command, several: Path, spec: Path, tmp_path: Path) -> None:
    said = refused(undercover, "publish", several, "--spec", spec, "--out", tmp_path / "out")
    assert 'missing = "drop" under [data] of the spec leaves the rows out' in said
    said = refused(undercover, "publish", several, "--spec", spec, "--missing", "drop", "--out", tmp_path / "out")
    assert "or say several_rows = true under [method] of the spec" in said


def test_python_is_told_in_python(several: Path) -> None:
    schema = uc.Schema(quasi_identifiers="age", sensitive="disease", identifiers="name")
    with pytest.raises(InputError, match='missing="drop" leaves the rows out'):
        uc.publish(several, schema, uc.Mondrian(k=3))
    schema = uc.Schema(quasi_identifiers="age", sensitive="disease", identifiers="name", missing="drop")
    with pytest.raises(InputError) as error:
        uc.publish(several, schema, uc.PerturbedGeneralization(k=3, p=0.3))
    assert "Column(domain=…) for `disease`" in str(error.value)
    assert "say several_rows=True to be promised" in str(error.value)
    assert "--" not in str(error.value)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (["--method", "streamliner", "--set", "l=2", "--set", "algorithm=gda"], "--allow-unsafe"),
        (["--method", "mondrian", "--set", "k=3", "--set", "refine=true", "--set", "recoding=regions"],
         "--set recoding=boxes"),
        (["--method", "incognito", "--set", "k=3", "--set", "weights=age:2"], "--set choose=weights"),
        (["--method", "cross-bucket", "--set", "k=3", "--set", "l=2", "--set", "variant=paper", "--set", "robust=true"],
         "--set variant=safe"),
        (["--method", "perturbed-generalization", "--set", "k=3", "--set", "p=0.3", "--set", "labels=driven"],
         "--set recoding=specialize"),
        (["--method", "perturbed-generalization", "--set", "k=3", "--set", "growth=1"], "a growth of 0.25"),
        (["--method", "mondrian", "--set", "k=3", "--one-row-per", "first"], "--unit …"),
        (["--method", "mondrian", "--set", "k=300"], "k=300 cannot be reached"),
    ],
)  # fmt: skip
def test_refusals_name_options(undercover: Command, several: Path, tmp_path: Path, asked: list[str], said: str) -> None:
    assert said in refused(undercover, "publish", several, *ROLES, "--missing", "drop", *asked, "--out", tmp_path / "o")


def test_spellings() -> None:
    with asked_by("command line"):
        assert option(drop="*") == "--drop '*'"
        assert option(quasi_identifiers=["age", "sex"]) == "--qi age,sex"
        assert in_data(encoding="latin-1") == 'encoding = "latin-1" under [data] of a spec (--spec)'
        from_spec(method=True)
        assert in_column("pay", bins=[0, 10]) == "bins = [0, 10] under [columns.pay] of the spec"
        assert parameter(rho=(0.2, 0.45)) == "rho = [0.2, 0.45] under [method] of the spec"
        assert option(original=...) == "--original …"  # no spec says that
    assert parameter(rho=(0.2, 0.45)) == "rho=(0.2, 0.45)"


def test_another_method_over_a_spec_is_told_what_both_take(undercover: Command, people: Path, tmp_path: Path) -> None:
    spec = tmp_path / "spec.toml"
    spec.write_text(
        '[roles]\nidentifiers = "name"\nquasi_identifiers = ["age", "sex", "zip"]\nsensitive = "disease"\n'
        '[method]\nname = "mondrian"\nk = 3\nl = 2\nrecoding = "boxes"\ncut = "median"\n'
    )
    made = undercover("publish", people, "--spec", spec, "--method", "cross-bucket", "--out", tmp_path / "a", "--json")
    assert made.code == 0, made.err
    assert (
        "note: of what the spec says to mondrian, cross-bucket is told k=3, l=2; dropped: `recoding`, `cut`."
        in made.err
    )
    made = undercover(
        "publish", people, "--spec", spec, "--method", "anatomy", "--set", "l=3", "--out", tmp_path / "b", "--json"
    )
    assert made.code == 0, made.err
    assert "anatomy is told nothing; dropped: `k`, `recoding`, `cut`." in made.err
    assert '"l": 3' in made.out


def test_consent_to_what_is_not_safe_is_not_carried_over(undercover: Command, people: Path, tmp_path: Path) -> None:
    spec = tmp_path / "spec.toml"
    spec.write_text(
        '[roles]\nidentifiers = "name"\nquasi_identifiers = ["age", "sex", "zip"]\nsensitive = "disease"\n'
        '[method]\nname = "streamliner"\nl = 2\nalgorithm = "gda"\nallow_unsafe = true\n'
    )
    refused = undercover(
        "publish", people, "--spec", spec, "--method", "perturbed-generalization", "--set", "k=3", "--set", "p=0.3",
        "--set", "labels=driven", "--set", "recoding=specialize", "--out", tmp_path / "a",
    )  # fmt: skip
    assert refused.code == 2
    assert "or say --allow-unsafe to publish it all the same" in refused.err


@pytest.fixture
def tree(people: Path, tmp_path: Path) -> Path:
    """A hierarchy of every disease of ``people``, and two that nobody of them has."""
    found = sorted({line.rsplit(",", 1)[1] for line in people.read_text().splitlines()[1:]})
    place = tmp_path / "tree.csv"
    place.write_text("level0,level1\n" + "".join(f"{one},some\n" for one in [*found, "rare", "rarer"]))
    return place


@pytest.mark.parametrize("declared", [False, True])
def test_values_are_drawn_from_the_leaves_of_a_hierarchy(
    undercover: Command, people: Path, tree: Path, tmp_path: Path, declared: bool
) -> None:
    leaves = [line.split(",")[0] for line in tree.read_text().splitlines()[1:]]
    domain = f"domain = {[*leaves[:-1]]!r}\n".replace("'", '"') if declared else ""
    spec = tmp_path / "spec.toml"
    spec.write_text(
        '[roles]\nidentifiers = "name"\nquasi_identifiers = ["age", "sex", "zip"]\nsensitive = "disease"\n'
        '[method]\nname = "perturbed-generalization"\nk = 3\np = 0.3\n'
        f'[columns.disease]\nhierarchy = "tree.csv"\n{domain}'
    )
    made = undercover("publish", people, "--spec", spec, "--out", tmp_path / "out")
    assert made.code == 0, made.err
    stated = uc.load(tmp_path / "out").release.form.domain
    assert list(stated) == (leaves[:-1] if declared else leaves)
    assert ("are drawn from the" in made.err and f"{len(leaves)} leaves" in made.err) is not declared
    assert uc.verify(tmp_path / "out" / "public").holds


def test_leaves_that_were_taken_from_the_table_are_no_domain(people: Path) -> None:
    seen = uc.Hierarchy([(one,) for one in ("flu", "cold")], observed=True)
    schema = uc.Schema(
        quasi_identifiers=["age"], sensitive="zip", identifiers=["name"], columns={"zip": uc.Column(hierarchy=seen)}
    )
    with pytest.raises(InputError):
        uc.publish(people, schema, uc.PerturbedGeneralization(k=3, p=0.3))


def test_one_story_of_insensitive_columns(undercover: Command, people: Path, roles: list[str], tmp_path: Path) -> None:
    facts = ("unchanged", "no promise covers it", "an attacker is taken to know it")
    root = Path(__file__).parents[2]
    told = {
        "help": undercover("publish", "--help").out,
        "datasheet": _ROLES["insensitive"],
        "guide": (root / "docs" / "guide" / "spec.md").read_text(),
        "inspect.md": (root / "docs" / "guide" / "inspect.md").read_text(),
    }
    undercover("inspect", people, *roles, "--write-spec", tmp_path / "spec.toml")
    told["spec"] = (tmp_path / "spec.toml").read_text()
    undercover("publish", people, "--qi", "age,zip", "--insensitive", "sex", "--sensitive", "disease", "--identifiers",
               "name", "--method", "mondrian", "--set", "k=5", "--out", tmp_path / "out")  # fmt: skip
    told["report"] = next((tmp_path / "out").rglob("datasheet.html")).read_text()
    for place, text in told.items():
        plain = " ".join(re.sub(r"[#\n]", " ", text).split())
        assert all(fact in plain for fact in facts), place
    assert all(fact in INSENSITIVE for fact in facts)
