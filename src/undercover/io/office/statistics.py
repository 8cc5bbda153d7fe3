"""Files of SPSS, Stata and SAS, by pyreadstat.

Value labels take the place of codes where every code that occurs has a label of its own; a column of which only some
codes have one keeps its numbers, and the sentence says so. What its owner declared missing is missing. Texts are padded
with blanks in SPSS and SAS files, so blanks at their ends are not part of them there; in Stata files they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from undercover.errors import DataError, MissingExtraError, damaged, listed
from undercover.io.cells import column
from undercover.io.limits import check_cells
from undercover.model.formats.writing import Writing
from undercover.parsing import MALFORMED

PROGRAMS = {
    ".sav": ("read_sav", "an SPSS file"),
    ".zsav": ("read_sav", "an SPSS file"),
    ".dta": ("read_dta", "a Stata file"),
    ".sas7bdat": ("read_sas7bdat", "a SAS file"),
    ".xpt": ("read_xport", "a SAS transport file"),
}
"""By the ending of a file: the function that reads it, and what it is."""

_PER_BYTE = 20  # cells, which take up more here than in columns, for every byte of a file
_TYPES = {"double": float, "string": str}


def read_statistics(path: Path, encoding: str | None = None) -> tuple[pa.Table, str, dict[str, Writing]]:
    """Read a file of a statistics program; the table, how it was read, and the labels of its codes."""
    try:
        import pyreadstat
    except ImportError as error:
        raise MissingExtraError("pyreadstat", "office", "Reading a file of SPSS, Stata or SAS") from error
    function, kind = PROGRAMS[path.suffix.lower()]
    try:
        _, about = getattr(pyreadstat, function)(str(path), metadataonly=True, output_format="dict", encoding=encoding)
        check_cells(path, about.number_rows or 0, about.number_columns or 0, _PER_BYTE)
        cells, about = getattr(pyreadstat, function)(str(path), output_format="dict", encoding=encoding)
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, OSError, MemoryError, *MALFORMED) as error:
        raise DataError(damaged(f"`{path}`", f"it cannot be read as {kind}")) from error
    labelled: list[str] = []
    kept: list[str] = []
    columns = {}
    for name in list(cells):
        values = cells.pop(name)  # a list of Python's numbers is five times as large as a column
        labels = about.variable_value_labels.get(name)
        found = labels and _labels(values, labels, ordered=about.variable_measure.get(name) == "ordinal")
        if labels:
            (labelled if found is not None else kept).append(name)
        stored = about.readstat_variable_types.get(name)
        columns[name] = found or column(_as_shown(values) if stored == "float" else values, _known(values, stored))
    said = [f"value labels stand for the codes of {_columns(labelled)}"] if labelled else []
    said += [f"{_columns(kept)} kept the codes, of which not all have a label of their own"] if kept else []
    writing = {
        name: Writing(_of_numbers(about.variable_value_labels[name]), about.variable_measure.get(name) == "ordinal")
        for name in (*labelled, *kept)
    }
    return pa.table(columns), "; ".join([kind, *said]), {name: one for name, one in writing.items() if one.labels}


def _labels(values: list[Any], labels: Mapping[Any, str], *, ordered: bool) -> pa.Array | None:
    """A column of labels in the order of their codes, if every code that occurs has one of its own."""
    encoded = pa.array(values).dictionary_encode()
    codes = encoded.dictionary.to_pylist()
    present = sorted(code for code in codes if code not in ("", None))
    texts = [labels.get(code, "") for code in present]
    if not present or "" in texts or len(set(texts)) < len(texts):
        return None
    position = {code: number for number, code in enumerate(present)}
    indices = pa.array([position.get(code) for code in codes], pa.int32()).take(encoded.indices)
    return pa.DictionaryArray.from_arrays(indices, pa.array(texts, pa.string()), ordered=ordered)


def _known(values: list[Any], stored: str | None) -> set[type] | None:
    """What all cells are; nobody knows of days and moments, which are numbers to the file."""
    first = next((value for value in values if value is not None), None)
    return {type(first)} if type(first) is _TYPES.get(stored or "") else None


def _of_numbers(labels: Mapping[Any, str]) -> dict[float, str]:
    """The labels of codes that are numbers."""
    return {code: label for code, label in labels.items() if isinstance(code, int | float) and label}


def _as_shown(values: list[Any]) -> list[Any]:
    """Numbers of single precision as people wrote them: 0.1, not the double next to it, 0.10000000149011612."""
    return [None if value is None else float(str(np.float32(value))) for value in values]


def _columns(names: list[str]) -> str:
    return f"{len(names)} columns" if len(names) > 5 else listed(names)
