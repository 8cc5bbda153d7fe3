"""Cards of what a notebook user holds; schemas, releases and runs are named in words that only pages know."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from undercover.model.figures import counted, number, parameters, rows, seconds
from undercover.model.release import Release
from undercover.model.run import Run
from undercover.model.schema import Schema
from undercover.model.view import Shown, Verdict, View, Viewable, facts, listed
from undercover.pages.views import card
from undercover.pages.words import asked_parameters, declared_by, promise_title, release_title

Line = tuple[str, str]


def card_of(thing: Shown) -> str:
    """The card of whatever has one."""
    if isinstance(thing, Viewable):
        return card(thing.view())
    views: dict[type[Any], Callable[[Any], View]] = {Schema: schema_view, Run: run_view, Release: release_view}
    return card(next(view for kind, view in views.items() if isinstance(thing, kind))(thing))


def schema_view(schema: Schema) -> View:
    """Which column plays which part."""
    lines: list[Line] = [(role, listed(names)) for role, names in schema.by_role().items() if names]
    trees = [name for name in schema.published if schema.column(name).hierarchy is not None]
    if trees:
        lines.append(("with hierarchy", listed(trees)))
    lines.append(("missing values", schema.missing))
    return View("schema", "Schema", (facts(*lines),), following="Hand it to `undercover.publish`.")


def release_view(release: Release) -> View:
    """Tables and promises of a release."""
    following = "`.table()` shows it, `undercover.verify` checks it."
    return View(
        "release", release_title(release), (facts(*_lines(release)),), _verdict(release.guarantees), following=following
    )


def run_view(run: Run) -> View:
    """The release of a run and what only the holder may see."""
    read = run.source.get("rows")
    rows = f"{number(len(run.rows))} of {number(read)}" if isinstance(read, int) else number(len(run.rows))
    verdict = run.verdict
    lines: list[Line] = [
        *((reason.kind, reason.text) for reason in verdict.ordered()),
        ("rows", rows),
        *_lines(run.release),
    ]
    who = run.schema.about.get("publisher")
    if who or run.made:
        lines.append(("made", " by ".join(filter(None, (run.made[:10], who)))))
    if run.engine:
        lines.append(("engine", engine_words(run.engine)))
    if run.timings:
        lines.append(("time", seconds(sum(run.timings.values()))))
    if run.randomness.get("seed") is not None:
        lines.append(("randomness", "reproducible: not for publication"))
    lines += [("warning", text) for text in run.warnings]
    following = "`.release` may leave the house, `undercover.save` writes both."
    shown, title = verdict.view(), ", ".join(filter(None, (run.name, release_title(run.release))))
    return View("run", title, (facts(*lines),), shown.verdict, shown.said, following=following, private=True)


def engine_words(engine: Mapping[str, Any]) -> str:
    """What made a release, in words.

    >>> engine_words({"name": "local", "parts": 1}), engine_words({"name": "spark", "parts": 16, "version": "3.5.1"})
    ('local', 'spark 3.5.1, 16 parts')
    """
    called = " ".join(str(engine[key]) for key in ("name", "version") if engine.get(key))
    return called if engine.get("parts", 1) == 1 else f"{called}, {counted(engine['parts'], 'part')}"


def _lines(release: Release) -> list[Line]:
    lines: list[Line] = [("parameters", parameters(asked_parameters(release.parameters)) or "none")]
    lines += [
        (f"table {table.name}", f"{rows(table.rows)}, {counted(len(table.columns), 'column')}")
        for table in release.tables
    ]
    if release.suppressed_rows:
        lines.append(("suppressed", rows(release.suppressed_rows)))
    for entry in release.guarantees:
        word = "open" if entry.get("holds") is None else "holds" if entry["holds"] else "fails"
        lines.append((promise_title(str(entry.get("name")), entry), word))
    safe = "yes" if release.algorithm_safe else "no"
    lines.append(("algorithm-safe", ", ".join(filter(None, (safe, declared_by(release.method))))))
    lines.append(("robust when values of others are known", "yes" if release.corruption_robust else "no"))
    return lines


def _verdict(promises: Sequence[Any]) -> Verdict:
    held = [entry.get("holds") for entry in promises]
    return "bad" if False in held else "plain"  # that a promise holds is no permission
