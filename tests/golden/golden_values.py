"""What is held of a recipe: public files, manifest, datasheet, the answers of commands, and the report's figures.

A release is published and saved once per session, also where several processes share the tests: the folder appears
whole or not at all, so whoever comes second takes what is there. All else is read from that folder.
"""

import contextlib
import hashlib
import io
import json
import os
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pyarrow.csv
import pyarrow.parquet
from golden_comparison import (
    NOT_COMPARED,
    NOTHING,
    checksum,
    condensed,
    differences,
    differences_of_checksums,
    digest,
    without,
)
from recipes import OTHERS, RECIPES, Recipe

import undercover as uc
from undercover.cli.main import main

STORED = Path(__file__).parent / "stored"
REPORTS = STORED / "reports"
COMMANDS = STORED / "commands.json"
QUERIES = 20

ALLOWED_NEW_KEYS = ("form",)  # keys of release.json itself that may appear
ALLOWED_GONE_PARAMETERS = ("used",)  # of its `method.parameters`, that may disappear
NOT_HELD_OF_MANIFESTS = ("undercover",)  # the version
NOT_HELD_OF_COMMANDS = (*NOT_COMPARED, "verify_seconds", "made_with", "sha256", "content")
# `sections` shows what is held beside it; a test of the pages holds every figure shown to that.
NOT_HELD_OF_REPORTS = ("seconds", "version", "sha256", "timings", "memory", "path", "date", "sections")


def released(name: str, root: Path) -> Path:
    """The folder with the release of a recipe, ``root/NAME/release``, made if nobody has made it yet."""
    place = root / name
    place.mkdir(parents=True, exist_ok=True)
    recipe = RECIPES[name]
    folder = place / "release"
    if not folder.exists():
        others = () if recipe.others is None else (_made(recipe.others, place / OTHERS) / "public",)
        _made(recipe, folder, others)
    return folder


def original(name: str, root: Path) -> Path:
    """The table of a recipe as a file beside its release."""
    path = root / name / f"people-{os.getpid()}.parquet"
    if not path.exists():
        pyarrow.parquet.write_table(RECIPES[name].table(), path)
    return path


def command(*arguments: Any) -> dict[str, Any]:
    """Run the command line in this process: the code it leaves with and the JSON it prints."""
    given, handler = sys.argv, signal.getsignal(signal.SIGTERM)
    printed, code = io.StringIO(), None
    sys.argv = ["undercover", *map(str, arguments), "--json"]
    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()) as problems:
            main()
    except SystemExit as left:
        code = left.code
    finally:
        sys.argv = given
        signal.signal(signal.SIGTERM, handler)
    text = printed.getvalue()
    assert text, f"`undercover {' '.join(map(str, arguments))}` printed nothing: {problems.getvalue()}"
    return {"code": code, "output": json.loads(text)}


def public_files(folder: Path) -> dict[str, str]:
    """A digest of every table; manifest and datasheet are compared by what they say, and the data package repeats them.

    Of CSV files it is the SHA-256. The bytes of Parquet files depend on the library that writes them, so that the
    digest there is of types and values.
    """
    found = {}
    for path in sorted(path for path in (folder / "public").rglob("*") if path.is_file()):
        if path.suffix == ".parquet":
            table = pyarrow.parquet.read_table(path)
            types = [f"{field.name} {field.type}" for field in table.schema]
            found[path.name] = digest(json.dumps([types, table.to_pydict()], default=str))
        elif path.name not in ("release.json", "datasheet.html", "datapackage.json"):
            found[path.name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def manifest(folder: Path) -> dict[str, Any]:
    """What ``release.json`` says, without the version; of hashes only whether they are right."""
    content = json.loads((folder / "public" / "release.json").read_text(encoding="utf-8"))
    for table in content["tables"]:
        right = hashlib.sha256((folder / "public" / table["file"]).read_bytes()).hexdigest()
        table["sha256"] = "right" if table["sha256"] == right else "wrong"
    hashed = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (folder / "public").iterdir()}
    others = folder.parent / OTHERS / "public" / "release.json"
    for other in (other for claim in content["guarantees"] for other in claim.get("others", ())):
        right = hashlib.sha256(others.read_bytes()).hexdigest()
        other["sha256"] = "right" if other["sha256"] == right else "wrong"
    content["files"] = {name: "right" if found == hashed[name] else "wrong" for name, found in content["files"].items()}
    return {name: condensed(value) for name, value in content.items() if name not in NOT_HELD_OF_MANIFESTS}


def differences_of_manifests(stored: Mapping[str, Any], found: Mapping[str, Any]) -> list[str]:
    """Where a manifest differs from the stored one, but for what may appear and disappear.

    >>> old = {"rows": 3, "method": {"name": "m", "parameters": {"k": 2, "used": {"p": 1}}}}
    >>> new = {"rows": 3, "method": {"name": "m", "parameters": {"k": 3}}, "form": {"name": "rows"}}
    >>> differences_of_manifests(old, new)
    ['release.json/method/parameters/k: stored 2, found 3']
    """
    now = {name: value for name, value in found.items() if name in stored or name not in ALLOWED_NEW_KEYS}
    parameters = now["method"]["parameters"]
    gone = [name for name in ALLOWED_GONE_PARAMETERS if name not in parameters]
    kept = {name: value for name, value in stored["method"]["parameters"].items() if name not in gone}
    return differences({**stored, "method": {**stored["method"], "parameters": kept}}, now, "release.json")


def datasheet(folder: Path) -> dict[str, str]:
    """A digest of the visible text of the datasheet under each of its headings."""
    reader = _VisibleText()
    reader.feed((folder / "public" / "datasheet.html").read_text(encoding="utf-8"))
    return {
        heading: digest(" ".join(" ".join(texts).replace(uc.__version__, "VERSION").split()))
        for heading, texts in reader.sections.items()
    }


def asked(name: str, root: Path) -> dict[str, tuple[str, list[Any]]]:
    """The commands about the release of a recipe, by what they are called in the stored file."""
    recipe, folder = RECIPES[name], released(name, root)
    with_original = ["--original", original(name, root)]
    require = [part for text in recipe.also_verify for part in ("--require", text)]
    commands: dict[str, list[Any]] = {
        "verify DIR": ["verify", folder],
        "verify DIR/public": ["verify", folder / "public"],
        " ".join(["verify DIR --original DATA", *require]): ["verify", folder, *with_original, *require],
        "attack DIR": ["attack", folder, *with_original],
    }
    for options in recipe.attacks:
        commands[" ".join(["attack DIR", *options])] = ["attack", folder, *options, *with_original]
    commands[f"measure DIR --queries {QUERIES}"] = ["measure", folder, "--queries", QUERIES, *with_original]
    return commands


def answers(name: str, root: Path) -> dict[str, Any]:
    """What the commands about a release print; an answer that an earlier command gave, too, is named by that one."""
    found: dict[str, Any] = {}
    for title, arguments in asked(name, root).items():
        answer = condensed(without(command(*arguments), NOT_HELD_OF_COMMANDS))
        same = [earlier for earlier, given in found.items() if given == answer]
        found[title] = {"same as": same[0]} if same else answer
    return found


def told(commands: Mapping[str, Any]) -> dict[str, Any]:
    """The answers of commands, each in full."""
    return {title: commands[answer["same as"]] if "same as" in answer else answer for title, answer in commands.items()}


def held(name: str, root: Path) -> dict[str, Any]:
    """Everything that is stored of a recipe but the figures of its report."""
    folder = released(name, root)
    return {
        "public files": public_files(folder),
        "release.json": manifest(folder),
        "datasheet.html": datasheet(folder),
        "commands": answers(name, root),
    }


def differences_of_releases(stored: Mapping[str, Any], found: Mapping[str, Any]) -> list[str]:
    """Where a release differs from the stored one: files, manifest, datasheet, verify, attack, measure."""
    return [
        *differences(stored["public files"], found["public files"], "public"),
        *differences_of_manifests(stored["release.json"], found["release.json"]),
        *differences(stored["datasheet.html"], found["datasheet.html"], "datasheet.html"),
        *differences(told(stored["commands"]), told(found["commands"]), "commands"),
    ]


def report_figures(folder: Path) -> dict[str, Any]:
    """What is held of every section of ``private/report.json``: a single number itself, otherwise a checksum.

    A section is named by up to two keys, and by the position where the top holds a list of mappings of mappings:
    ``attacks/0/after``, ``class_sizes/histogram``. Order within a section does not count.
    """
    text = (folder / "private" / "report.json").read_text(encoding="utf-8")
    content = without(json.loads(text.replace(str(folder.parent), "PLACE")), NOT_HELD_OF_REPORTS)
    return {path: _brief(checksum([value], ordered=False)) for path, value in sorted(_sections(content))}


def differences_of_reports(stored: Mapping[str, Any], found: Mapping[str, Any], noise: float = 1.0) -> list[str]:
    """Where the figures of a report differ, section by section."""
    lines = [f"report.json/{path}: not found" for path in stored if path not in found]
    lines += [f"report.json/{path}: not stored" for path in found if path not in stored]
    for path in stored:
        if path in found:
            both = _whole(stored[path]), _whole(found[path])
            lines += differences_of_checksums(*both, f"report.json/{path}", noise)
    return lines


def other_answers(root: Path) -> dict[str, Any]:
    """What the commands that are about no single release of a recipe print: inspect, publish, joint-risk and others."""
    root.mkdir(parents=True, exist_ok=True)
    data, new = root / "people.csv", root / "new.csv"
    for path, seed in ((data, 31), (new, 32)):
        pyarrow.csv.write_csv(_decoded(uc.datasets.census(400, seed=seed)), path)
    roles = ["--qi", "age,sex,work_class", "--sensitive", "income"]
    first = ["--method", "mondrian", "--set", "k=8", "--set", "l=2", "--require", "k=4", "--seed", "5"]
    second = ["--qi", "education", "--sensitive", "income", "--method", "mondrian", "--set", "k=60", "--seed", "6"]
    accepted = ["--accept", "recipe", "--by", "recipe"]
    commands: dict[str, list[Any]] = {
        "inspect DATA": ["inspect", data, *roles],
        "publish DATA": ["publish", data, *roles, *first, *accepted, "--out", root / "first"],
        "publish DATA again": ["publish", data, *second, *accepted, "--out", root / "second"],
        "apply DIR": ["apply", root / "first", "--to", new, "--seed", "7", *accepted, "--out", root / "applied"],
        "joint-risk A B": ["joint-risk", root / "first" / "public", root / "second" / "public", "--worst", "3"],
        "verify FILE": ["verify", root / "second" / "public" / "table.csv", *second[:4], "--require", "k=60"],
        "verify FILE that fails": ["verify", data, *second[:4], "--require", "k=60", "--require", "t=0.1"],
        "guarantee": ["guarantee", "--k", "6", "--p", "0.3", "--skew", "0.1", "--rho1", "0.2", "--domain", "50"],
        "compare DATA": [
            *("compare", data, *roles, "--methods", "mondrian", "--queries", "5"),
            *("--out", root / "compared"),
        ],
    }
    found = {}
    for title, arguments in commands.items():
        answer = json.loads(json.dumps(command(*arguments)).replace(str(root), "PLACE"))
        found[title] = condensed(without(answer, NOT_HELD_OF_COMMANDS))
    return found


def _made(recipe: Recipe, folder: Path, others: Sequence[Path] = ()) -> Path:
    if folder.exists():
        return folder
    method = replace(recipe.method(), others=tuple(others)) if others else recipe.method()
    # Unjudged, so that tables are public; the verdicts of commands are held below.
    asked = {"seed": recipe.seed, "require": recipe.require, "policy": "none"}
    run = uc.publish(recipe.table(), recipe.schema(), method, **asked)
    try:
        return uc.save(run, folder, format=recipe.format)
    except Exception:
        if folder.exists():  # another process was faster
            return folder
        raise


def _brief(found: list[Any]) -> Any:
    """A checksum as it is stored: a single number, the digest of texts, or both with what else there is."""
    count, total, _, texts = found
    if count == 0:
        return texts
    if texts != NOTHING:
        return found
    return total if count == 1 else found[:3]


def _whole(brief: Any) -> list[Any]:
    """The checksum that was stored briefly."""
    if isinstance(brief, str):
        return [0, 0.0, 0.0, brief]
    if not isinstance(brief, list):
        return [1, brief, brief * brief, NOTHING]
    return [*brief, NOTHING][:4]


def _sections(content: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The sections of a report with their names."""
    for name, part in content.items():
        if isinstance(part, Mapping):
            yield from ((f"{name}/{key}", value) for key, value in part.items())
        elif isinstance(part, list) and any(_is_nested(entry) for entry in part):
            for position, entry in enumerate(part):
                yield from ((f"{name}/{position}/{key}", value) for key, value in entry.items())
        else:
            yield name, part


def _is_nested(entry: Any) -> bool:
    return isinstance(entry, Mapping) and any(isinstance(value, Mapping | list) for value in entry.values())


def _decoded(table: Any) -> Any:
    """The same table with its dictionaries as plain text."""
    fields = [(name, table.column(name)) for name in table.column_names]
    plain = {
        name: column.cast("string") if pyarrow.types.is_dictionary(column.type) else column for name, column in fields
    }
    return pyarrow.table(plain)


class _VisibleText(HTMLParser):
    """Collects the text a reader sees, by the heading it stands under."""

    hidden = ("script", "style", "head")
    headings = ("h1", "h2")

    def __init__(self) -> None:
        super().__init__()
        self.sections: dict[str, list[str]] = {"before any heading": []}
        self.current = "before any heading"
        self.depth = 0
        self.heading: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in self.hidden:
            self.depth += 1
        if tag in self.headings:
            self.heading = []

    def handle_endtag(self, tag: str) -> None:
        if tag in self.hidden:
            self.depth -= 1
        if tag in self.headings and self.heading is not None:
            self.current = " ".join(" ".join(self.heading).split())
            self.sections.setdefault(self.current, [])
            self.heading = None

    def handle_data(self, data: str) -> None:
        if self.depth:
            return
        if self.heading is not None:
            self.heading.append(data)
        else:
            self.sections[self.current].append(data)
