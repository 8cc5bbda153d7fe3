"""The last of the recipient's snippets: the same with undercover, for whoever has it installed.

It goes on where the others end: ``low``, ``high``, ``value`` and ``wanted`` are what was asked there.
"""

from __future__ import annotations

from undercover.forms.snippets import Snippet, cells_of, is_number, scale
from undercover.model.drawn import channel_of, is_drawn, is_perturbed
from undercover.model.release import PublishedTable, Release

_LOAD = """\
import undercover as uc
from undercover.io.release.manifest import load_release

release, problems = load_release(".")
print(problems or "the tables are those of release.json")
"""


def with_undercover(release: Release) -> Snippet:
    """The questions of the snippets before, asked again."""
    if is_perturbed(release):
        return _perturbed(release)
    if is_drawn(release):
        return _drawn(release)
    return _counted(release)


def _counted(release: Release) -> Snippet:
    tables = {table.name: table for table in release.tables}
    main = tables.get("qit", release.tables[0])
    values = tables.get("sat", main)
    where = _asked(main)
    sensitive = values.names("sensitive")
    number = bool(sensitive) and values.form(sensitive[0]) == "value" and is_number(values, sensitive[0])
    both = [*where, *([f"{sensitive[0]!r}: {'wanted.item()' if number else 'wanted'}"] if sensitive else [])]
    lines = [f"query = uc.CountQuery(where={{{', '.join(both)}}})", "print(uc.answer(release, query))"]
    if number:
        lines += [
            f"total = uc.SumQuery({sensitive[0]!r}, where={{{', '.join(where)}}})",
            "print(uc.answer_sum(release, total))",
        ]
    text = "It checks the files against release.json, reads every form of cell, and bounds any combination of columns."
    nodes = [name for name in main.names("quasi-identifier") if main.form(name) == "node"]
    if nodes:
        text += (
            f" To ask about {nodes[0]} it needs the hierarchy, which is not in the release: "
            f"domains={{{nodes[0]!r}: uc.Hierarchy(...)}}."
        )
    return {"title": "The same with undercover", "text": text, "code": _LOAD + "\n".join(lines) + "\n"}


def _asked(table: PublishedTable) -> list[str]:
    """The predicate on a quasi-identifier that the last way of counting has left names for."""
    quasi = [name for name in table.names("quasi-identifier") if cells_of(table, name)]
    for name in quasi:
        kind = scale(table, name)
        if kind is not None:
            ends = "float(low), float(high)" if kind == "float" else "low.date(), high.date()"
            return [f"{name!r}: uc.Between({ends})"]
    sets = [name for name in quasi if table.form(name) == "set"]
    if sets:
        return [f"{sets[0]!r}: value"]
    plain = [name for name in quasi if table.form(name) == "value"]
    if not plain or any(table.form(name) == "node" for name in quasi):
        return []
    numbers = [name for name in plain if is_number(table, name)]
    return [f"{numbers[0]!r}: uc.Between(float(low), float(high))" if numbers else f"{plain[0]!r}: value"]


def _drawn(release: Release) -> Snippet:
    table = release.published()
    sensitive = table.names("sensitive")
    lines = ["print(uc.verify(release))"]
    text = (
        "It checks the files against release.json. What was promised lies in tables that stay with the holder, so "
        "the verification leaves it open; counts are refused, because values that were drawn bound nothing."
    )
    if sensitive and is_number(table, sensitive[0]):
        lines.append(f"print(uc.answer_sum(release, uc.SumQuery({sensitive[0]!r})))")
        text += " A sum is that of the published rows."
    return {"title": "The same with undercover", "text": text, "code": _LOAD + "\n".join(lines) + "\n"}


def _perturbed(release: Release) -> Snippet:
    table = release.published()
    (sensitive,) = table.names("sensitive")
    number = is_number(table, sensitive)
    if not channel_of(release).p:
        text = "It checks the files against release.json and recomputes what is promised."
        return {"title": "The same with undercover", "text": text, "code": _LOAD + "print(uc.verify(release))\n"}
    lines = [
        "counts = uc.PerturbedCounts(release)",
        f"print(counts.count({{{sensitive!r}: {'value.item()' if number else 'value'}}}))",
    ]
    if number:
        lines.append("print(counts.mean())")
    text = (
        "It takes predicates on any column, weighs cells that lie partly in the query, and has marginals, means and "
        "sums with standard errors. undercover.fit_release learns a decision tree from the release (with the extra "
        "undercover[analysis])."
    )
    return {"title": "The same with undercover", "text": text, "code": _LOAD + "\n".join(lines) + "\n"}
