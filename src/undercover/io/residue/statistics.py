"""Files of Stata and SPSS: cells and labels, written again, must make the same bytes.

Labels of columns are the words of the holder in ``datapackage.json``; labels of values that no row has are reported,
since nothing in the release accounts for them but the holder's word. ReadStat writes one layout; of SPSS files the name
of the program that wrote them is not compared.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from undercover.errors import MissingExtraError
from undercover.io.office.write_statistics import label_column, write_frame
from undercover.io.residue.cells import words_with_rows
from undercover.io.residue.found import ADVICE, Residue

_PROGRAM = {"sav": slice(4, 64), "dta": slice(0, 0)}
"""Where the name of the program stands that wrote a file."""


def find_in_statistics(path: Path, columns: Sequence[Mapping[str, Any]], words: Mapping[str, str]) -> Residue:
    """Look for what a file holds beside cells and labels; ``words`` are said of columns, by their names."""
    try:
        import pyreadstat
    except ImportError as error:
        raise MissingExtraError("pyreadstat", "office", "Reading a file of SPSS, Stata or SAS") from error
    kind = path.suffix[1:]
    read = pyreadstat.read_dta if kind == "dta" else pyreadstat.read_sav
    frame, about = read(str(path), output_format="polars", disable_datetime_conversion=True)
    found = Residue()
    for what, held in (("a label of the file", about.file_label), ("notes", about.notes)):
        if held:
            found.problems.append(_said(path, f"it has {what}"))
    own = {str(column.get("variable") or column["name"]): str(column["name"]) for column in columns}
    labels = {str(name): label for name, label in zip(about.column_names, about.column_labels, strict=True)}
    for variable, label in labels.items():
        name = own.get(variable, variable)
        if (label or "") != label_column(variable, name, words.get(name, ""), kind):
            found.problems.append(_said(path, f"column `{name}` has a label that `datapackage.json` does not have"))
    for variable, values in about.variable_value_labels.items():
        occurring = set(frame[variable].drop_nulls().to_list()) if variable in frame.columns else set()
        if words_with_rows({str(code): str(label) for code, label in values.items()}):
            found.problems.append(_said(path, f"labels of values of `{own.get(variable, variable)}` hold rows"))
        unused = sum(code not in occurring for code in values)
        if unused:
            found.notes.append(
                f"`{path.name}` has labels for {unused:,} values of `{own.get(variable, variable)}` that no row has. "
                "That they are values and nothing else rests on the holder's word."
            )
    return found if found.problems else _written_again(path, kind, frame, about, labels, found)


def _written_again(
    path: Path, kind: str, frame: Any, about: Any, labels: Mapping[str, str | None], found: Residue
) -> Residue:
    """Compare a file with what its cells and labels make when they are written again."""
    with tempfile.TemporaryDirectory() as place:
        again = Path(place, path.name)
        shown = {name: form for name, form in about.original_variable_types.items() if not _is_text(form)}
        options: dict[str, Any] = {
            "column_labels": {name: label or "" for name, label in labels.items()},
            "variable_value_labels": about.variable_value_labels,
            "variable_format": shown,
        }
        if kind == "sav":
            measures = {name: one for name, one in about.variable_measure.items() if one == "ordinal"}
            options["variable_measure"] = measures
        write_frame(_as_stored(frame, about), again, kind, options)
        mine, theirs = bytearray(again.read_bytes()), bytearray(path.read_bytes())
    mine[_PROGRAM[kind]] = theirs[_PROGRAM[kind]] = b""
    if mine != theirs:
        found.problems.append(_said(path, "cells and labels, written again, make different bytes"))
    return found


def _as_stored(frame: Any, about: Any) -> Any:
    """The frame with numbers as the file has them: whole ones as narrow, and columns without any value, too."""
    import polars

    narrow = [name for name, stored in about.readstat_variable_types.items() if stored in ("int8", "int16", "int32")]
    empty = [name for name, stored in about.readstat_variable_types.items() if stored == "double"]
    empty = [name for name in empty if frame[name].null_count() == len(frame)]
    kinds = {**dict.fromkeys(narrow, polars.Int32), **dict.fromkeys(empty, polars.Float64)}
    return frame.with_columns(polars.col(name).cast(kind) for name, kind in kinds.items())


def _is_text(form: str) -> bool:
    """Whether a column is shown as text, in Stata (`%-9s`) or SPSS (`A9`)."""
    return form.endswith("s") or form[:1] == "A"


def _said(path: Path, what: str) -> str:
    return f"`{path.name}` holds more than its cells: {what}. {ADVICE}"
