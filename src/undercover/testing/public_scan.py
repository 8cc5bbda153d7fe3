"""Reads what a recipient gets as somebody would who looks for people in it.

*Values.* Originals, seed, file, digests, identifiers and columns without a role are known and looked for everywhere: in
the source of the page with its tags, attributes, comments and style, in the source with its entities resolved, and in
its text with the tags taken out. Numbers are found with and without separators. What a declared domain or tree makes
public may stand in ``release.json`` under ``domain``, ``orders`` or ``trees``; what others have published of the same
people, as evidence under ``others`` and its ``rows``. Nothing of it may stand elsewhere, or anywhere on the page.

*Counts.* No scan can read what a number means, so none is trusted:

- Every piece of the page (a run of text, an attribute, a comment, a style) must also stand on the page of another table
  with the same recipe, the numbers of the recipe aside (parameters of the method and of its promises). What two tables
  that share no value and no count have in common tells nothing about the people in either.
- Whatever differs from table to table must be a ``<data value>``. Together these are the figures of ``release.json``:
  the rows of each table and the number of its parts, what each promise requires and reaches, and the suppressed rows if
  they are none or at least as many as the promise; and what sampling does to counts, which is worked out again from the
  published tables alone. One figure more, or another one, is a finding.
- ``datapackage.json`` may say the hashes that ``release.json`` says and how many bytes the files have; whatever else it
  says must stand in the package of another table with the same recipe.
- In ``release.json`` every key must be known: of the contract, or a parameter of the method, the form or the promise.
  Rows and reached sizes must not lie below the promise; a table with a column G has a row per cell, so its people are
  counted there. ``suppressed_rows`` is left alone: it is part of the contract, see decision 21.
"""

from __future__ import annotations

import html
import json
import os
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from undercover import plugins
from undercover.forms import read
from undercover.guarantees.requirements import FOUND
from undercover.io.release.contents import KEYS, pieces_of
from undercover.io.release.manifest import read_public
from undercover.model.form import PEOPLE
from undercover.scanning.texts import Page as Page

NUMBER = re.compile(r"\d+(?:\.\d+)?")
DATASHEET, RELEASE, PACKAGE = "datasheet.html", "release.json", "datapackage.json"
PUBLIC_LISTS = ("domain", "orders", "trees", "rows")
MANIFEST = set(KEYS["the manifest"])
TABLE = set(KEYS["a table"])
PART = set(KEYS["a part"])
COLUMN = set(KEYS["a column"])
USED = {"levels", "dropped", "p", "domain", "parts"}
OTHER = {"name", "columns", "sha256", "rows", "sets"}

Public = tuple[str, Mapping[str, Any]]
"""What may be scanned: the source of a datasheet, and a manifest."""


def scan_public(
    folder: str | os.PathLike[str],
    beside: str | os.PathLike[str],
    *,
    secrets: Mapping[str, set[str]],
    declared: Collection[str] = (),
) -> list[str]:
    """What a public folder tells of people beyond its tables; nothing, if all is well.

    Parameters
    ----------
    folder
        ``DIR/public`` of a release, with its datasheet.
    beside
        The public folder of another table by the same recipe, which shares no value and no count with the first.
    secrets
        Values that must not be found, by what they are: see :func:`undercover.testing.tables.secrets_of`.
    declared
        Values that were public before: of declared domains and hierarchies.

    Examples
    --------
    >>> import tempfile, undercover as uc
    >>> from undercover.testing.tables import ILLNESSES, MARKED, marked, secrets_of
    >>> with tempfile.TemporaryDirectory() as place:
    ...     for which in ("first", "second"):
    ...         _ = uc.save(uc.publish(marked(which), MARKED, uc.Mondrian(k=8)), Path(place, which))
    ...     secrets = secrets_of(marked(), MARKED)
    ...     scan_public(Path(place, "first/public"), Path(place, "second/public"), secrets=secrets, declared=ILLNESSES)
    []
    """
    public, other = _read(Path(folder)), _read(Path(beside))
    tables = [part["file"] for table in public[1]["tables"] for part in pieces_of(table)]
    wanted = {DATASHEET, RELEASE, PACKAGE, *tables}
    found = [f"file: {name}" for name in sorted(set(os.listdir(folder)) ^ wanted)]
    packages = [json.loads(Path(place, PACKAGE).read_text("utf-8")) for place in (folder, beside)]
    found += scan_package(packages[0], packages[1], public[1], secrets)
    return found + scan_release(public, other, secrets=secrets, declared=declared, following=following(folder))


def following(folder: str | os.PathLike[str]) -> list[str]:
    """Figures that anybody can work out from the tables of a public folder, as they are written."""
    found = read(read_public(folder).release).sampling or {}
    return [repr(value) for value in found.values() if isinstance(value, int | float)]


def scan_release(
    public: Public,
    other: Public,
    *,
    secrets: Mapping[str, set[str]],
    declared: Collection[str] = (),
    following: Collection[str] = (),
) -> list[str]:
    """The same for a datasheet and a manifest that were read before, and what else follows from their tables."""
    page, manifest = public
    found = [f"page: {kind}" for kind in leaked_values(page, secrets)]
    found += [f"manifest: {kind}" for kind in leaked_values(json.dumps(without_declared(manifest)), secrets)]
    found += [f"manifest: not declared: {value}" for value in sorted(set(declared_lists(manifest)) - set(declared))]
    return found + scan_page(page, manifest, *other, following) + scan_manifest(manifest)


def _read(folder: Path) -> Public:
    return (folder / DATASHEET).read_text("utf-8"), json.loads((folder / RELEASE).read_text("utf-8"))


def leaked_values(text: str, secrets: Mapping[str, set[str]]) -> list[str]:
    """Which secrets stand in a text, by the kind they are of."""
    texts = [text, html.unescape(text), Page(text).text] if "<" in text else [text]
    whole = "\n".join(texts)
    plain = re.sub(r"(?<=\d)[,\u202f\u00a0 '](?=\d{3}\b)", "", whole)
    tokens = {token for found in (whole, plain) for token in re.split(r"[^\w.-]+", found)}
    tokens |= {part for token in tokens for part in (token.strip(".-"), token.removesuffix(".0"))}
    return sorted(
        kind
        for kind, values in secrets.items()
        if any(value in tokens or (len(value) > 5 and value in whole) for value in values)
    )


def scan_page(
    source: str,
    manifest: Mapping[str, Any],
    other: str,
    other_manifest: Mapping[str, Any],
    following: Collection[str] = (),
) -> list[str]:
    """Counts and other facts of the table that stand on a page, beside what the manifest says."""
    page = Page(source)
    pieces = Page(other).pieces
    same = {*pieces, *(_masked(piece, other_manifest) for piece in pieces)}
    found = [f"of this table: {p!r}" for p in page.pieces if p not in same and _masked(p, manifest) not in same]
    surplus = Counter(value for value, _ in page.figures) - Counter([*allowed_figures(manifest), *following])
    found += [f"a figure: {value}" for value in surplus]
    found += [f"a figure shown as {shown!r}: {value}" for value, shown in page.figures if not _shows(value, shown)]
    return found


def scan_manifest(manifest: Mapping[str, Any]) -> list[str]:
    """Unknown keys, and counts of people below the promise."""
    found = [f"key {key}" for key in sorted(set(_keys(manifest)))]
    floor = promised(manifest)
    found += [
        f"{table['rows']} rows"
        for table in manifest["tables"]
        if PEOPLE not in [column["name"] for column in table["columns"]] and 0 < table["rows"] < floor
    ]
    found += [
        f"size {entry['actual']}"
        for entry in manifest["guarantees"]
        if getattr(plugins.load("guarantees", entry["name"]), "looks_at", "") == "boxes"
        and entry["actual"] < entry["required"]
    ]
    return found


def scan_package(
    package: Mapping[str, Any], other: Mapping[str, Any], manifest: Mapping[str, Any], secrets: Mapping[str, set[str]]
) -> list[str]:
    """What a data package tells of its table beside the manifest, and secrets in it."""
    found = [f"package: {kind}" for kind in leaked_values(json.dumps(package), secrets)]
    hashes = {f"sha256:{value}" for value in manifest["files"].values()}
    whole = [resource for resource in package["resources"] if not isinstance(resource["path"], list)]
    found += [f"package: hash {one.get('hash')}" for one in whole if one.get("hash") not in hashes]
    of_files = [str(one.get(name)) for one in package["resources"] for name in ("hash", "bytes")]
    same = [*_words(other), *of_files, *manifest["files"]]
    return found + [f"package, of this table: {word}" for word in _words(package) if word not in same]


def allowed_figures(manifest: Mapping[str, Any]) -> Iterator[str]:
    """The figures a page may show, as they are written."""
    for table in manifest["tables"]:
        yield str(table["rows"])
        if "parts" in table:
            yield str(len(table["parts"]))
    for entry in manifest["guarantees"]:
        yield from (str(entry[name]) for name in ("required", "actual") if name in entry)
    if not 0 < manifest["suppressed_rows"] < promised(manifest):
        yield str(manifest["suppressed_rows"])


def promised(manifest: Mapping[str, Any]) -> int:
    """The largest number of people or values that is promised anywhere."""
    asked = [manifest["method"]["parameters"], *manifest["guarantees"]]
    return max([1, *(int(entry[name]) for entry in asked for name in ("k", "l") if entry.get(name))])


def _masked(piece: str, manifest: Mapping[str, Any]) -> str:
    """A piece without the numbers of the recipe; a fraction may be rounded, a whole number may not."""
    asked = [{key: entry[key] for key in entry if key not in ("actual", "others")} for entry in manifest["guarantees"]]
    whole, fractions = set(), []
    for number in NUMBER.findall(json.dumps(without_declared([manifest["method"]["parameters"], asked]))):
        whole.add(number)
        fractions += [float(number)] if "." in number else []
    whole.add(str(len(manifest["method"]["parameters"].get("used", {}).get("domain", ()))))

    def known(match: re.Match[str]) -> str:
        number = match[0]
        near = "." in number and "," not in number and any(abs(float(number) - f) < 0.01 * f for f in fractions)
        return "#" if number in whole or near else number

    return NUMBER.sub(known, piece)


def _shows(value: str, shown: str) -> bool:
    """Whether what is shown is the value, rounded in its last digits."""
    if value in ("inf", "None", "True", "False") or shown == value:
        return True
    try:
        written, exact = float(shown.replace(",", "").replace("∞", "inf")), float(value)
    except ValueError:
        return shown == value
    return abs(written - exact) <= 0.05 * abs(exact)


def _keys(manifest: Mapping[str, Any]) -> Iterator[str]:
    """Keys nobody knows."""
    yield from set(manifest) - MANIFEST
    yield from set(manifest["method"]) - {"name", "parameters"}
    parameters = manifest["method"]["parameters"]
    yield from set(parameters) - _fields("methods", manifest["method"]["name"]) - {"used"}
    yield from set(parameters.get("used", {})) - USED
    yield from set(manifest["form"]) - _fields("forms", manifest["form"]["name"])
    for entry in manifest["guarantees"]:
        yield from set(entry) - _fields("guarantees", entry["name"]) - set(FOUND)
        yield from (key for other in entry.get("others", ()) for key in set(other) - OTHER)
    for table in manifest["tables"]:
        yield from set(table) - TABLE
        yield from (key for part in table.get("parts", ()) for key in set(part) - PART)
        yield from (key for column in table["columns"] for key in set(column) - COLUMN)


def _fields(kind: str, name: str) -> set[str]:
    """What a plug-in states of itself; of one that is not installed, its name alone."""
    if name not in plugins.names(kind):
        return {"name"}
    found = plugins.load(kind, name)
    return {"name", *(field.name for field in fields(found.form if kind == "forms" else found))}


def without_declared(value: Any) -> Any:
    """A manifest without the values that were public before the release."""
    if isinstance(value, Mapping):
        return {key: without_declared(item) for key, item in value.items() if not _is_public_list(key, item)}
    return [without_declared(item) for item in value] if isinstance(value, list) else value


def declared_lists(value: Any) -> Iterator[str]:
    """Every value that stands in one of those lists."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _leaves(item) if _is_public_list(key, item) else declared_lists(item)
    elif isinstance(value, list):
        for item in value:
            yield from declared_lists(item)


def _is_public_list(key: str, value: Any) -> bool:
    return key in PUBLIC_LISTS and isinstance(value, Mapping | list)


def _words(value: Any) -> Iterator[str]:
    """Every key and every value of what was read from JSON."""
    if isinstance(value, Mapping):
        yield from map(str, value)
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _words(item)
    else:
        yield str(value)


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _leaves(item) if isinstance(item, list) else [str(key)]
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item)
    else:
        yield str(value)
