"""Hierarchies over codes whose first characters say most, such as postcodes: 10115 lies in 101**, that in 1****."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from undercover.errors import HierarchyError
from undercover.hierarchies.leaves import distinct
from undercover.model.hierarchy import ROOT, Hierarchy
from undercover.model.table import write_values


def from_prefixes(values: Any, lengths: Sequence[int] = (3, 1)) -> Hierarchy:
    """A hierarchy of ever shorter prefixes.

    Stars fill a prefix up to the longest code, so codes of different length meet under the same prefix. A code no
    longer than the prefix stays as it is on that level.

    Parameters
    ----------
    values
        The codes to cover.
    lengths
        Characters kept on each level, descending.

    Examples
    --------
    >>> from_prefixes(["10115", "10245", "12043"]).rows
    (('10115', '101**', '1****', '*'), ('10245', '102**', '1****', '*'), ('12043', '120**', '1****', '*'))
    """
    codes = write_values(distinct(values))
    problems = [
        f"The length of a prefix must be an int in [1, inf). Got {length!r} instead."
        for length in lengths
        if isinstance(length, bool) or not isinstance(length, int) or length < 1
    ]
    if not lengths:
        problems.append("Prefixes need at least one length.")
    elif not problems and list(lengths) != sorted(set(lengths), reverse=True):
        problems.append(f"The lengths of prefixes must descend from level to level. Got {list(lengths)} instead.")
    if problems:
        raise HierarchyError(problems)
    longest = max(len(code) for code in codes)
    levels = [
        [code if len(code) <= length else code[:length] + "*" * (longest - length) for code in codes]
        for length in lengths
    ]
    return Hierarchy(zip(codes, *levels, [ROOT] * len(codes), strict=True))
