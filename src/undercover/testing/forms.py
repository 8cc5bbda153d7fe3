"""What every form must pass: what it says of its tables is true of them, and one nobody knows is refused."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from undercover import plugins
from undercover.errors import DataError, UnknownFormError
from undercover.forms.against import compared
from undercover.forms.case import Case
from undercover.forms.meaning import domain_values
from undercover.forms.reading import Reading
from undercover.io.release.manifest import load_release, write_tables
from undercover.model.form import form_entry, form_of_entry
from undercover.model.formats import FORMATS, IN_PARTS, Files
from undercover.model.release import PublishedTable, Release
from undercover.model.run import Run
from undercover.testing.attacks import by_name, truthful
from undercover.testing.forged import check_forged
from undercover.testing.holding import as_plain, examples_of, must, reached
from undercover.testing.tables import tiny
from undercover.verbs.attack import attack, case_of
from undercover.verbs.measure import measure
from undercover.verbs.verify import verify

NOBODYS = "nobody-knows-this-form"


def check_form(name: str, *, runs: Sequence[Run] | None = None) -> None:
    """Hold a form to what it says of tables.

    Parameters
    ----------
    name
        Of an installed form.
    runs
        Releases of this form, each with its original; by default tiny ones of every installed method that makes any.

    Examples
    --------
    >>> import undercover as uc
    >>> from undercover.testing.tables import people
    >>> from undercover.verbs.publish import publish_table
    >>> check_form("generalized", runs=[publish_table(people((0, 1, 2, 3), (2, 1, 1)), uc.Mondrian(k=2))])
    """
    offered = plugins.load("forms", name)
    called = offered.form.name
    must(called == name, f"The form {called} is offered under the name {name}.")
    made = list(runs_of(name)) if runs is None else list(runs)
    must(made, f"No installed method has an example that publishes the form {name}. Give runs.")
    comes_back(made[0].release)
    is_refused_where_unknown(made[0])
    check_forged(made[0].release)
    for run in made:
        case = case_of(run)
        must(isinstance(case.reading, offered.reading), f"A release of the form {name} is not read by its reading.")
        says_the_truth(case)
        adds_up(case)
        loses_what_it_lost(case)
        has_words(case.reading)
    for attacker in plugins.names("attacks"):
        truthful(by_name(attacker), case_of(made[-1]))


def runs_of(name: str) -> Iterator[Run]:
    """Tiny releases of a form, by every installed method with an example that makes some."""
    kind = plugins.load("forms", name).form
    for method in plugins.names("methods"):
        for made in examples_of(method, "safe", "unsafe"):
            for run in reached(made, (tiny()[0], tiny()[-1])):
                if type(run.release.form) is not kind:
                    break
                yield run


def comes_back(release: Release) -> None:
    """A form is the same after a manifest, and its tables have what it needs."""
    form, kind = release.form, type(release.form)
    must(not form.problems(release.tables), f"{form}: {form.problems(release.tables)}")
    entry = as_plain(f"{form} in a manifest", form_entry(form))
    must(form_of_entry(kind, entry) == form, f"{form} comes back from a manifest as {form_of_entry(kind, entry)}.")
    with tempfile.TemporaryDirectory() as folder:
        write_tables(release, Path(folder))
        again, problems = load_release(folder)
    must(again.form == form and not problems, f"{form} comes back from a folder as {again.form}. {problems}")


def is_refused_where_unknown(run: Run) -> None:
    """Tables of a form nobody knows are read by nobody: from a folder, verified, attacked, measured."""
    form = run.release.form
    strange = type(type(form).__name__, (type(form),), {"name": NOBODYS})
    values = {field.name: getattr(form, field.name) for field in fields(form)}  # type: ignore[arg-type]
    release = replace(run.release, form=strange(**values))
    questions: dict[str, Callable[[], Any]] = {
        "verify": lambda: verify(release),
        "attack": lambda: attack(Case(_original(run), release)),
        "measure": lambda: measure(_original(run), release),
        "load_release": lambda: _rewritten(run.release),
    }
    for asked, question in questions.items():
        try:
            found = question()
        except UnknownFormError:
            continue
        raise AssertionError(f"{asked}: tables of a form nobody knows were read all the same: {found!r}")


def _rewritten(release: Release) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        write_tables(release, Path(folder))
        manifest = Path(folder, "release.json")
        content = json.loads(manifest.read_text("utf-8"))
        content["form"]["name"] = NOBODYS
        manifest.write_text(json.dumps(content), "utf-8")
        return load_release(folder)


def says_the_truth(case: Case) -> None:
    """Cells that cover do cover, values that are true are true, and the holder finds nothing wrong."""
    reading, form = case.reading, case.release.form
    wrong = [finding for finding in compared(reading, case.original) if finding.holds is not True]
    must(not wrong, f"{form} against its original: {wrong}")
    if reading.covers:
        covered = covering(case)
        alone = np.flatnonzero(~covered.any(axis=0))
        must(len(alone) <= case.release.suppressed_rows, f"{form} says that cells cover: rows {alone} lie in none.")
        own = covered[case.own, np.arange(len(case.own))].all() if case.own is not None else True
        must(own, f"{form} says that cells cover: somebody's own row does not cover him.")
    if reading.true_values and not case.release.suppressed_rows:
        for name in case.original.schema.sensitive:
            before = np.bincount(case.original[name].codes, minlength=case.original[name].domain.size)
            after = _by_value(case, name)
            must(np.allclose(before, after), f"{form} says that values are true: {name} occurs {after}, not {before}.")


def covering(case: Case) -> np.ndarray:
    """(n_published, n_rows) whether a published row covers a person, by its cells and nothing else."""
    reading, original = case.reading, case.original
    found = np.ones((reading.main.rows, original.n_rows), dtype=bool)
    for name in reading.main.names("quasi-identifier"):
        values, cells = domain_values(original[name]), reading.column(name)
        inside = np.zeros((len(cells.labels), values.size), dtype=bool)
        for place, label in enumerate(cells.labels):
            meaning = values.read(label, reading.main.form(name))
            inside[place, list(meaning.members or range(meaning.low, meaning.high + 1))] = True
        found &= inside[cells.codes][:, original[name].codes]
    return found


def adds_up(case: Case) -> None:
    """What a recipient expects are as many people as there are, by boxes and by sensitive values."""
    found, people = case.reading.estimates(case.original), case.original.n_rows - case.release.suppressed_rows
    total = float(found.people.sum())
    must(np.isclose(total, people), f"{case.release.form}: the estimates are of {total:g} people; there are {people}.")
    for name in found.sensitive:
        counted = float(_by_value(case, name).sum())
        must(np.isclose(counted, people), f"{case.release.form}: {counted:g} values of {name} of {people} people.")


def _by_value(case: Case, name: str) -> np.ndarray:
    shown = case.reading.estimates(case.original).sensitive[name]
    found: np.ndarray = shown.by_class(np.arange(len(shown.labels)), len(shown.labels)).sum(axis=0)
    return found


def loses_what_it_lost(case: Case) -> None:
    """The truth in place of every cell loses nothing; a table in which a cell says less or something else does."""
    form = case.release.form
    true = Case(case.original, _as_it_is(case), case.run)
    for name, loss in true.reading.losses(case.original, true.own).items():
        must(loss.arithmetic == 0, f"{form}: a table published as it is has lost {loss.arithmetic:g} ({name}).")
    changed = case.reading.own_fits(case.original.schema.quasi_identifiers, case.original, case.own)
    untrue = changed is not None and not changed.all()
    if untrue or _is_coarse(case.reading, case):
        for name, loss in case.reading.losses(case.original, case.own).items():
            must(loss.arithmetic > 0, f"{form}: cells are coarse or were moved, and nothing is lost ({name}).")


def _is_coarse(reading: Reading, case: Case) -> bool:
    names = reading.main.names("quasi-identifier")
    return any(set(reading.column(name).labels) - set(domain_values(case.original[name]).labels) for name in names)


def _as_it_is(case: Case) -> Release:
    """The release with the true values of people in its rows: their own where one knows whose they are."""
    table, original = case.reading.main, case.original
    people = np.arange(table.rows) % original.n_rows
    if case.own is not None:
        people[case.own] = np.arange(original.n_rows)
    data = case.release.table(table.name)
    for name in table.names("quasi-identifier"):
        cells = original[name].domain.take(original[name].codes[people])
        data = data.set_column(data.column_names.index(name), name, cells.cast(pa.string()))
    true = PublishedTable(table.name, table.columns, data)
    return replace(case.release, tables=tuple(true if one is table else one for one in case.release.tables))


def has_words(reading: Reading) -> None:
    """Every column and every way of writing a cell is explained, and code that compiles goes with it."""
    form, cells = reading.release.form, reading.cell_words()
    must(reading.unit and reading.order, f"{form} has no word for rows alike, or for their order.")
    for table in reading.release.tables:
        for column in table.columns:
            must(reading.meaning(table, column), f"{form} does not say what the column {column.name} stands for.")
            must(cells.get(column.form), f"{form} does not say how a cell is read that is written as {column.form}.")
    for file_format in (*map(Files, FORMATS), *(Files(name, 1) for name in IN_PARTS)):
        found = reading.snippets(file_format)
        must(found, f"{form} has no code for somebody who holds its tables.")
        for snippet in found:
            must(snippet["title"] and snippet["text"], f"{form} has code without words.")
            compile(snippet["code"], f"<{snippet['title']}>", "exec")
            for table in reading.release.tables:
                whole = file_format.parts(table.rows) == 1 or f"{table.name}.{file_format}" not in snippet["code"]
                must(whole, f"{form} has code for one file {table.name}.{file_format} where there are several.")


def _original(run: Run) -> Any:
    if run.original is None:
        raise DataError("The run does not hold its original table.")
    return run.original
