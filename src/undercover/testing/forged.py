"""Forged folders: what somebody may do to a public folder so that a verifier looks elsewhere, and must be told.

Every forgery is done as well as it can be: what it changes is hashed anew, unless the change of a file is the point.
"""

from __future__ import annotations

import csv
import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from undercover import plugins
from undercover.errors import UndercoverError
from undercover.io.release.contents import DATASHEET, MANIFEST, PACKAGE
from undercover.io.release.manifest import write_tables
from undercover.io.source import sha256
from undercover.model.release import Release
from undercover.testing.holding import must
from undercover.verbs.verify import verify


class Folder:
    """A public folder with its manifest, to be changed and sealed again."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.content: dict[str, Any] = json.loads((place / MANIFEST).read_text("utf-8"))

    @property
    def claims(self) -> list[dict[str, Any]]:
        """The promises."""
        found: list[dict[str, Any]] = self.content["guarantees"]
        return found

    @property
    def asked(self) -> dict[str, Any]:
        """What the method was asked for."""
        found: dict[str, Any] = self.content["method"]["parameters"]
        return found

    def columns(self, role: str) -> list[dict[str, Any]]:
        """The columns of a role, of all tables."""
        return [column for table in self.content["tables"] for column in table["columns"] if column["role"] == role]

    def add_column(self, name: str, role: str, cells: Callable[[int], object]) -> None:
        """One more column of the first table."""
        entry = self.content["tables"][0]
        path = self.place / entry["file"]
        with path.open(newline="", encoding="utf-8") as file:
            header, *rows = csv.reader(file)
        with path.open("w", newline="", encoding="utf-8") as file:
            lines = ([*row, cells(number)] for number, row in enumerate(rows))
            csv.writer(file, lineterminator="\n").writerows([[*header, name], *lines])
        entry["columns"].append({"name": name, "role": role, "form": "value"})

    def add_file(self, name: str) -> None:
        """A file of raw rows."""
        (self.place / name).write_text("name,age\nAda,34\nBob,35\n", encoding="utf-8")

    def drop_datasheet(self) -> None:
        """Take the datasheet away, as a release may have none: it says what the manifest says, and would tell."""
        (self.place / DATASHEET).unlink()
        del self.content["files"][DATASHEET]

    def seal(self) -> None:
        """Write the data package and the manifest with the sizes and hashes of the files as they are now."""
        self._seal_package()
        found = {entry.name: sha256(entry) for entry in self.place.iterdir() if entry.is_file()}
        self.content["files"] = {name: found[name] for name in self.content["files"] if name in found}
        for table in self.content["tables"]:
            for held in table.get("parts") or [table]:
                if "sha256" in held:
                    held["sha256"] = found[held["file"]]
        (self.place / MANIFEST).write_text(json.dumps(self.content), encoding="utf-8")

    def _seal_package(self) -> None:
        """Let the data package name the files of the manifest, with their sizes and hashes."""
        path = self.place / PACKAGE
        if not path.is_file() or PACKAGE not in self.content.get("files", {}):
            return
        package = json.loads(path.read_text("utf-8"))
        tables = {str(table.get("name")).lower(): table for table in self.content["tables"]}
        for resource in package.get("resources", ()) if isinstance(package, dict) else ():
            table = tables.get(str(resource.get("name")))
            names = [held["file"] for held in table.get("parts") or [table]] if table is not None else []
            files = [self.place / name for name in names]
            if not files or not all(file.is_file() for file in files):
                continue
            resource["path"] = names if len(names) > 1 else names[0]
            resource["bytes"] = sum(file.stat().st_size for file in files)
            if len(names) > 1:
                for key in ("hash", "profile"):
                    resource.pop(key, None)
            else:
                resource["hash"] = f"sha256:{sha256(files[0])}"
        path.write_text(json.dumps(package, indent=2), encoding="utf-8")


def _emptied(folder: Folder) -> bool:
    numbers = [name for claim in folder.claims for name in claim if name in folder.asked]
    folder.content["guarantees"] = []
    return bool(numbers)


def _invented(folder: Folder) -> bool:
    invented = {"name": "perfect-privacy", "required": 1, "actual": 1, "holds": True, "needs": "private", "columns": []}
    folder.claims.append(invented)
    return True


def _needs(folder: Folder) -> bool:
    told = [claim for claim in folder.claims if "needs" not in claim]
    if told:
        told[0]["needs"] = "private"
    return bool(told)


def _structure(folder: Folder) -> bool:
    taken = {column["name"] for table in folder.content["tables"] for column in table["columns"]}
    folder.add_column("G" if "G" not in taken else "G2", "structure", lambda row: 1000)
    return True


def _relabelled(folder: Folder) -> bool:
    quasi = folder.columns("quasi-identifier")
    several = len({column["name"] for column in quasi}) > 1 and bool(folder.claims)
    for column in quasi:
        if column["name"] == quasi[0]["name"]:
            column.update(role="insensitive", form="value")
    return several


def _identifier(folder: Folder) -> bool:
    folder.add_column("name", "identifier", lambda row: f"person {row}")
    return True


def _role(folder: Folder) -> bool:
    folder.columns("quasi-identifier")[0]["role"] = "harmless"
    return True


def _third_table(folder: Folder) -> bool:
    folder.add_file("raw.csv")
    columns = [{"name": name, "role": "insensitive", "form": "value"} for name in ("name", "age")]
    entry = {"name": "raw", "file": "raw.csv", "rows": 2, "sha256": "", "columns": columns}
    folder.content["tables"].append(entry)
    folder.content["files"]["raw.csv"] = ""
    return True


def _file(name: str) -> Callable[[Folder], bool]:
    def forge(folder: Folder) -> bool:
        folder.add_file(name)
        return True

    return forge


def _named_file(folder: Folder) -> bool:
    folder.add_file("raw.csv")
    folder.content["files"]["raw.csv"] = ""
    return True


def _sub_folder(folder: Folder) -> bool:
    (folder.place / "more").mkdir()
    (folder.place / "more" / "raw.csv").write_text("name\nAda\n", encoding="utf-8")
    return True


def _link(folder: Folder) -> bool:
    (folder.place / "elsewhere.csv").symlink_to("/dev/null")
    return True


def _one_removed(folder: Folder) -> bool:
    """The last promise with a number of its own that was asked for."""
    for claim in reversed(folder.claims):
        rest = [other for other in folder.claims if other is not claim]
        own = {name for name in claim if name in folder.asked} - {name for other in rest for name in other}
        if own and rest and not any("needs" in other for other in rest):
            folder.content["guarantees"] = rest
            return True
    return False


def _is_diversity(claim: Mapping[str, Any]) -> bool:
    """Whether a promise asks for many different values of a sensitive column that it can name."""
    promise = plugins.load("guarantees", claim["name"])
    about: frozenset[str] = getattr(promise, "about", frozenset())
    return bool(about == {"attribute"} and promise.sense == "at least" and hasattr(promise, "column"))


def _row_numbers(number: Callable[[int], object]) -> Callable[[Folder], bool]:
    def forge(folder: Folder) -> bool:
        diverse = [claim for claim in folder.claims if _is_diversity(claim)]
        folder.add_column("row", "sensitive", number)
        for claim in diverse:
            claim["column"] = "row"
            claim["columns"] = [*claim["columns"][:-1], "row"]
        return bool(diverse) and folder.content["tables"][0]["rows"] >= 100

    return forge


def _stripped(folder: Folder) -> bool:
    folder.seal()
    del folder.content["files"]
    (folder.place / MANIFEST).write_text(json.dumps(folder.content), encoding="utf-8")
    return True


def _part_twice(folder: Folder) -> bool:
    for table in folder.content["tables"]:
        part = {"file": table.pop("file"), "rows": table["rows"], "sha256": table.pop("sha256")}
        table["parts"] = [part, dict(part)]
        table["rows"] *= 2
    return True


def _suppressed(folder: Folder) -> bool:
    folder.content["suppressed_rows"] = -5
    return True


def _flipped(folder: Folder) -> bool:
    folder.content["algorithm_safe"] = not folder.content["algorithm_safe"]
    return True


def _other_parameters(folder: Folder) -> bool:
    shared = [name for claim in folder.claims for name in ("k", "l", "delta", "t") if name in claim]
    shared = [name for name in shared if folder.asked.get(name) is not None]
    if shared:
        folder.asked[shared[0]] = 50
    return bool(shared)


def _stated(change: Callable[[Folder], None]) -> Callable[[Folder], bool]:
    def forge(folder: Folder) -> bool:
        if "keep" not in folder.content["form"]:
            return False
        change(folder)
        return True

    return forge


def _claimed_p(folder: Folder) -> None:
    for claim in folder.claims:
        if "p" in claim:
            claim["p"] = 0.01


def _dealt(change: Callable[[dict[str, Any]], Any]) -> Callable[[Folder], bool]:
    def forge(folder: Folder) -> bool:
        if "among" not in folder.content["form"]:
            return False
        change(folder.content["form"])
        return True

    return forge


def _called_own(form: dict[str, Any]) -> None:
    del form["values"], form["among"]


def _datasheet(folder: Folder) -> bool:
    folder.seal()
    path = folder.place / DATASHEET
    path.write_text(path.read_text("utf-8").replace("</body>", "<p>Approved.</p></body>") + " ", encoding="utf-8")
    return True


def _package(folder: Folder) -> bool:
    folder.seal()
    path = folder.place / PACKAGE
    content = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({**content, "licenses": [{"name": "CC0-1.0"}]}), encoding="utf-8")
    return True


def _table(folder: Folder) -> bool:
    folder.seal()
    path = folder.place / folder.content["tables"][0]["file"]
    lines = path.read_text("utf-8").splitlines(keepends=True)
    path.write_text("".join([lines[0], *lines[2:], lines[1]]), encoding="utf-8")
    return True


def _key(change: Callable[[dict[str, Any]], Any]) -> Callable[[Folder], bool]:
    def forge(folder: Folder) -> bool:
        change(folder.content)
        return True

    return forge


def _columns_unsaid(folder: Folder) -> bool:
    for claim in folder.claims:
        claim.pop("columns")
    return bool(folder.claims)


def _twice(folder: Folder) -> bool:
    folder.seal()
    path = folder.place / MANIFEST
    path.write_text(path.read_text("utf-8")[:-1] + ', "guarantees": []}', encoding="utf-8")
    return True


FORGERIES: Final[Mapping[str, tuple[Callable[[Folder], bool], str]]] = {
    "guarantees emptied": (_emptied, "no promise is left"),
    "one guarantee of several removed": (_one_removed, "one was taken out"),
    "a guarantee invented": (_invented, "perfect-privacy was not checked"),
    "a guarantee that needs the private run": (_needs, "published tables can tell"),
    "a structure column": (_structure, "has the role structure"),
    "a quasi-identifier relabelled": (_relabelled, "the manifest says columns"),
    "an identifier": (_identifier, "identifiers are never published"),
    "an unknown role": (_role, "`harmless` is not known"),
    "a third table": (_third_table, "table"),
    "a file": (_file("raw.csv"), "does not name it"),
    "a hidden file": (_file(".raw.csv"), "does not name it"),
    "a file that is named": (_named_file, "neither a table"),
    "a folder": (_sub_folder, "is a folder"),
    "a link": (_link, "is a link"),
    "row numbers for values": (_row_numbers(lambda row: row), "numbers the rows"),
    "row numbers in steps": (_row_numbers(lambda row: 1000 - 7 * row), "numbers the rows"),
    "row numbers in texts": (_row_numbers(lambda row: f"case {row:04}/a"), "numbers the rows"),
    "row numbers with gaps": (_row_numbers(lambda row: row + row // 3), "numbers the rows"),
    "suppressed rows below zero": (_suppressed, "cannot be below 0"),
    "algorithm_safe flipped": (_flipped, "`algorithm_safe` is"),
    "parameters that contradict": (_other_parameters, "The method was asked for"),
    "another p claimed": (_stated(_claimed_p), "says p = 0.01"),
    "another p used": (_stated(lambda folder: folder.asked["used"].update(p=0.01)), "says p = 0.01"),
    "another p in the form": (_stated(lambda folder: folder.content["form"].update(keep=0.01)), "the form 0.01"),
    "dealt values called own": (_dealt(_called_own), "were not dealt anew"),
    "values dealt among more": (_dealt(lambda form: form.update(among=50)), "the form 50"),
    "the datasheet edited": (_datasheet, "`datasheet.html` was changed"),
    "the data package edited": (_package, "`datapackage.json` was changed"),
    "the data package not named": (_key(lambda content: content["files"].pop(PACKAGE)), "does not name it"),
    "a table edited": (_table, "was changed"),
    "a hash removed": (_key(lambda content: content["tables"][0].pop("sha256")), "sha256"),
    "a file not named": (_key(lambda content: content["files"].pop(DATASHEET)), "does not name it"),
    "an unknown key": (_key(lambda content: content.update(certified="yes")), "`certified`"),
    "an unknown key of a table": (_key(lambda content: content["tables"][0].update(note="fine")), "`note`"),
    "an unknown key of the form": (_key(lambda content: content["form"].update(trusted=True)), "`trusted`"),
    "columns unsaid": (_columns_unsaid, "does not say which columns"),
    "a key twice": (_twice, "twice"),
    "files stripped": (_stripped, "`files` was taken out"),
    "a part twice": (_part_twice, "names a file twice"),
}
"""By what is done: the change, which says whether it applies to a release, and a part of what must be said of it."""

SEALED_BY_THEMSELVES: Final[Sequence[Callable[[Folder], bool]]] = (_datasheet, _package, _table, _twice, _stripped)


def check_forged(release: Release) -> None:
    """Hold a release of any form to it: it verifies as it is, and no forgery of its folder goes unnoticed.

    Examples
    --------
    >>> import undercover as uc
    >>> from undercover.testing.tables import people
    >>> from undercover.verbs.publish import publish_table
    >>> check_forged(publish_table(people((0, 1, 2, 3), (2, 1, 1)), uc.Mondrian(k=2)).release)
    """
    for name in FORGERIES:
        with tempfile.TemporaryDirectory() as place:
            (Path(place) / DATASHEET).write_text("<p>What was published.</p>", encoding="utf-8")
            write_tables(release, Path(place), said={})
            as_it_is = verify(place)
            must(as_it_is.holds is not False, f"{release.form} does not verify as it is: {as_it_is.problems}")
            said = forged(Path(place), name)
            must(said != "", f"{release.form}: nobody noticed {name}.")


def forged(public: Path, name: str) -> str | None:
    """What is said of a folder after a forgery: nothing where it goes unnoticed, ``None`` where it does not apply."""
    change, expected = FORGERIES[name]
    folder = Folder(public)
    if not change(folder):
        return None
    if change not in SEALED_BY_THEMSELVES:
        folder.seal()
    try:
        found = verify(public)
    except UndercoverError as error:
        return str(error)
    if found.holds is not False:
        return ""
    said = " ".join([*found.problems, *(finding.note for finding in found.failures)])
    must(expected in said, f"{name}: {expected!r} is not among what is said: {said}")
    return said
