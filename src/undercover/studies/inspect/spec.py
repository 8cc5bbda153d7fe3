"""A commented spec to start from: what :func:`undercover.studies.inspect.inspection.inspect` suggests, as TOML."""

from __future__ import annotations

import os
import textwrap
import tomllib
from pathlib import Path
from typing import Any

from undercover import plugins
from undercover.errors import UndercoverError
from undercover.io.plain import plain
from undercover.io.source import read
from undercover.io.spec.file import SPEC_VERSION
from undercover.io.spec.load import resolve, spec_from_mapping
from undercover.io.spec.write import quoted, written
from undercover.model.schema import INSENSITIVE
from undercover.studies.inspect.columns import ColumnReport
from undercover.studies.inspect.inspection import Inspection
from undercover.studies.inspect.questions import QUESTION
from undercover.studies.inspect.vocabulary import COUNT_WORDS, words_of
from undercover.studies.recommend.recommend import FRESH, Unsatisfied, recommend
from undercover.studies.recommend.search import BASIS
from undercover.whole import check_file, is_spec, write_whole

K = 5
L = 3
SECONDS = 10.0  # to search for a method


def write_spec(
    inspection: Inspection, path: str | os.PathLike[str] | None = None, *, force: bool = False, data: Any = None
) -> str:
    """Write a spec with the suggested roles and the reason for each as a comment; without a path, only return it.

    With the ``data`` that was inspected, the method is the one that :func:`undercover.recommend` chooses in a few
    seconds; without, it is one to start from.
    """
    if path is not None:  # told before the search
        check_file(Path(path), force=force, ours=is_spec)
    parts = [*_data(inspection), "", *_roles(inspection), "", *_columns(inspection)]
    chosen = _method(inspection) if data is None else _recommended(inspection, "\n".join(parts), data)
    text = "\n".join([*parts, *chosen, *_BEYOND, ""])
    if path is not None:
        write_whole(path, text)
    return text


def _data(inspection: Inspection) -> list[str]:
    lines = [
        "# A spec to start from. The roles are suggestions with their reasons: who may know what about whom is for you",
        "# to say. A column without a role is not published, and publishing without deciding on it asks you to decide.",
        "",
    ]
    lines += [f"version = {SPEC_VERSION}", ""]
    for warning in inspection.warnings:
        if warning.startswith("SEVERAL"):
            lines += [f"# {line}" for line in textwrap.wrap(f"ATTENTION: {_comment(warning)}", 110)]
    lines.append("[data]")
    holes = [column.name for column in _chosen(inspection) if column.missing]
    if holes:
        lines.append(f"# Missing values occur in {', '.join(map(quoted, holes))}; here they are a value of their own.")
    lines.append(f'missing = "{"category" if holes else "error"}"  # error | drop (leaves such rows out) | category')
    markers = {marker for column in inspection.columns for marker in column.null_markers if marker}
    if markers:
        lines.append(
            f"# nulls = [{', '.join(map(quoted, sorted(markers)))}]  # these stand in the table: do they mean missing?"
        )
    return lines


def _roles(inspection: Inspection) -> list[str]:
    lines = ["[roles]"]
    for key, role in (("identifiers", "identifier"), ("quasi_identifiers", "quasi-identifier")):
        chosen = [column for column in inspection.columns if column.role == role]
        if chosen:
            lines += [f"{key} = [", *(f"    {quoted(c.name)},  # {_comment(c.reason)}" for c in chosen), "]"]
    if not inspection.named("quasi-identifier"):
        lines.append("quasi_identifiers = []  # name at least one: what may others know of a person?")
    if inspection.unit is not None:
        lines.append(f"unit = {quoted(inspection.unit)}  # whose row it is: people are counted, not rows")
    elif inspection.people.asks:
        lines += _wrapped(f"ATTENTION: {inspection.people.describe({})} Which column tells people apart?")
        proposed = inspection.people.keys[0].column if inspection.people.keys else "…"
        lines.append(f'# unit = {quoted(proposed)}  # or "row", if each row is a person of its own')
    protected = _protected(inspection)
    lines += [f"# {_comment(column.reason)}" for column in protected[:1]]
    if len(protected) == 1:
        lines.append(f"sensitive = {quoted(protected[0].name)}")
    elif protected:
        lines.append(f"sensitive = [{', '.join(quoted(column.name) for column in protected)}]")
    else:
        lines.append(
            '# sensitive = "…"  # which column should nobody learn? Without one only identities are protected.'
        )
    others = [inspection.column(name) for name in _unprotected(inspection)]
    if others:
        lines.append("# Sensitive as well; sensitive = [...] with several columns protects each of them, at a price:")
        lines += [f"#   {quoted(column.name)}: {_eligibility(column, inspection)}" for column in others]
    declared = [quoted(name) for name in inspection.named("insensitive")]
    if declared:
        lines.append(f"insensitive = [{', '.join(declared)}]")
    else:
        lines.append(f"# {INSENSITIVE.capitalize()}:")
        lines.append("# insensitive = []")
    return lines + _asked(inspection)


def _asked(inspection: Inspection) -> list[str]:
    """The columns nobody has decided on, each with the question, as comments: until then they are not published."""
    lines: list[str] = []
    if inspection.questions:
        lines += [
            "# Nobody has decided on these, so they are not published. Publish unchanged (insensitive), drop, or may",
            "# somebody know it (quasi_identifiers)? A sampling weight is named by weight.",
        ]
    for question in inspection.questions:
        lines.append(f"#   {quoted(question.column)}: {QUESTION}")
        lines.append(f"#       {_comment(question.why)} {question.effect}")
    open_ones = [*(question.column for question in inspection.questions), *_unprotected(inspection)]
    if open_ones:
        lines.append('# What you have decided not to publish, or ["*"] for all others:')
        lines.append(f"# drop = [{', '.join(map(quoted, open_ones))}]")
    return lines


def _unprotected(inspection: Inspection) -> list[str]:
    """Columns that look sensitive and are not among those the spec protects."""
    protected = _protected(inspection)
    return [column.name for column in inspection.columns if column.role == "sensitive" and column not in protected]


def _columns(inspection: Inspection) -> list[str]:
    lines: list[str] = []
    for column in _chosen(inspection):
        if column.categories:
            lines += [f"[columns.{quoted(column.name)}]", 'kind = "categorical"  # numbers that name categories', ""]
        elif column.kind == "date" and column.role == "quasi-identifier":
            lines += [f"[columns.{quoted(column.name)}]", 'kind = "date"', ""]
    quasi = inspection.named("quasi-identifier")
    if quasi:
        lines += [
            "# What else can be said of a column:",
            f"# [columns.{quoted(quasi[0])}]",
            '# kind = "numeric"            # numeric | categorical | ordinal (with domain) | date',
            "# weight = 2.0                # how much a loss here counts beside the other columns",
            '# hierarchy = "hierarchy.csv"  # publish nodes of a tree: header level0..levelN, one row per leaf',
            '# domain = ["low", "high"]    # the declared public values, in order',
            "",
        ]
    return lines


def _method(inspection: Inspection) -> list[str]:
    lines = [
        "[method]",
        f"name = {quoted(plugins.names('methods')[0])}",
        f"k = {max(1, min(K, inspection.rows))}  # at least this many rows look alike",
    ]
    protected = _protected(inspection)
    largest = min((_largest_l(column, inspection) for column in protected), default=0)
    if largest >= L:
        lines.append(f"l = {L}  # no sensitive value is more than 1/{L} of a group")
    elif protected:
        lines += [f"# l = {L}  # {_eligibility(c, inspection)}" for c in protected if _largest_l(c, inspection) < L]
    return [*lines, '# diversity = "distinct"      # frequency (default) | distinct | entropy | recursive']


def _recommended(inspection: Inspection, spec: str, data: Any) -> list[str]:
    """The method that is recommended for what a spec says of a table; one to start from where none is, and why."""
    try:
        said = spec_from_mapping(tomllib.loads(spec))
        given = read(data, options=said.options)
        found = recommend(
            given, resolve(said, given.data), policy=said.policy, options=said.options, time=SECONDS, patient=False
        )
    except UndercoverError as error:
        tried = _looked(BASIS) if isinstance(error, Unsatisfied) else []
        return [*_wrapped(f"Nothing is recommended: {error}"), *_method(inspection), *tried]
    sure = [] if found.confirmed else ["unconfirmed: `undercover recommend` takes the time to try it on all rows."]
    reasons = [f"You decide: {reason.text}" for reason in found.verdict.weighing("ask")]
    lines = [line for text in (found.why(), *sure, *found.cannot, *reasons) for line in _wrapped(text)]
    settings = [f"{name} = {written(plain(value))}" for name, value in found.candidate.parameters.items()]
    looked = _looked(found.runs[0].release.choice.basis)
    return ["[method]", *lines, f"name = {quoted(found.candidate.method)}", *settings, *looked]


def _looked(basis: str) -> list[str]:
    """That a method was chosen by what releases of the table reach, or left over when none of them satisfied."""
    return ["", "[choice]", *_wrapped(FRESH), f"basis = {quoted(basis)}"]


def _wrapped(text: str) -> list[str]:
    return [f"# {line}" for line in textwrap.wrap(_comment(text), 110)]


_BEYOND = (
    "",
    "# What must hold beyond the method's own claim:",
    "# [[require]]",
    '# name = "k-anonymity"',
    "# k = 5",
)


def _protected(inspection: Inspection) -> list[ColumnReport]:
    """The sensitive columns of the spec: those declared, or the best one of those suggested.

    The best is the first that can be made l-diverse, a count only if there is nothing else; where none can, it is the
    most varied one.
    """
    candidates = [column for column in inspection.columns if column.role == "sensitive"]
    if inspection.declared or not candidates:
        return candidates
    eligible = [column for column in candidates if _largest_l(column, inspection) >= L]
    eligible.sort(key=lambda column: bool(words_of(column.name) & COUNT_WORDS))
    return eligible[:1] or [min(candidates, key=lambda column: _worst_share(column, inspection))]


def _chosen(inspection: Inspection) -> list[ColumnReport]:
    protected = _protected(inspection)
    return [column for column in inspection.columns if column.role == "quasi-identifier" or column in protected]


def _worst_share(column: ColumnReport, inspection: Inspection) -> float:
    return max(column.top_share, column.missing / inspection.rows)


def _largest_l(column: ColumnReport, inspection: Inspection) -> int:
    # In rows, so that a share of exactly 1/3 is not lost to rounding.
    return inspection.rows // max(1, round(_worst_share(column, inspection) * inspection.rows))


def _eligibility(column: ColumnReport, inspection: Inspection) -> str:
    share, largest = _worst_share(column, inspection), _largest_l(column, inspection)
    if largest >= L:
        return f"its most frequent value is {share:.1%} of the rows, l up to {largest:,} can be reached."
    return f"its most frequent value is {share:.1%} of the rows, so l cannot be above {largest}."


def _comment(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)
