"""What nobody knows of a release, or nobody checked: what its holder has to decide."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from undercover import plugins
from undercover.errors import listed
from undercover.model.encoding.folding import LISTED, near_spellings
from undercover.model.figures import counted, number
from undercover.model.run import Run
from undercover.model.schema import ALL_OTHERS, EACH_ROW
from undercover.model.table import EncodedColumn, Table
from undercover.model.verdict import INFERENCE, LINKABILITY, SINGLING_OUT, Reason
from undercover.verbs.repeated_people import RepeatedPeople, describe_roles
from undercover.wording import either, in_column, option

_WORDS, _TEXTS, _SHARE = 5, 20, 0.1  # free text: so many words in so many different values and this share of the rows


def algorithm(run: Run) -> Iterator[Reason]:
    """Whether the method's own choices, or the choice of the method, tell more than the tables say."""
    yield from choice(run)
    wish = run.policy.algorithm_safe
    if run.release.has_safe_method or wish == "ignored":
        return
    yield Reason(
        kind="algorithm",
        weight="stop" if wish == "required" else "ask",
        text="Somebody who knows the method may learn more than the tables say: its choices depend on sensitive "
        "values.",
        regulator=INFERENCE,
        change="Choose a method or variant that is algorithm-safe.",
    )


def choice(run: Run) -> Iterator[Reason]:
    """Whether method, parameters or draw were chosen after looking at sensitive values."""
    wish, chosen = run.policy.algorithm_safe, run.release.choice
    if not chosen.has_looked or wish == "ignored":
        return
    before = f" {counted(chosen.refused, 'earlier release')} of the same table " if chosen.refused else ""
    verb = "was refused." if chosen.refused == 1 else "were refused."
    yield Reason(
        kind="choice",
        weight="stop" if wish == "required" else "ask",
        text=f"This was chosen after looking at sensitive values. That alone can reveal something.{before}"
        + (verb if before else ""),
        regulator=INFERENCE,
        change="Fix the method and its parameters before looking at the table, and publish the first release.",
    )


def unknowns(run: Run, original: Table) -> Iterator[Reason]:
    """What nobody knows, or nobody checked."""
    schema = run.schema
    yield from _whose_rows(run, original)
    asked = run.source.get("asked", {}).get("quasi_identifiers", ())  # some of which the method left out
    decided = {*schema.identifiers, *schema.published, *asked, *schema.drop, schema.weight}
    undecided = [name for name in run.source.get("columns", ()) if name not in decided]
    if undecided and ALL_OTHERS not in schema.drop:
        yield _asking(
            "undecided",
            f"Nobody decided on {listed(undecided)}: what has no role is not published.",
            f"Give each a role, or drop it; {option(drop='*')} drops all others.",
        )
    texts = [name for name in schema.published if name in original.columns and _free_text(original[name])]
    if texts:
        yield _asking(
            "free text",
            f"{listed(texts)} {'are' if len(texts) > 1 else 'is'} free text, in which anything may be told of anybody.",
            "Drop such a column, or replace it by what is needed of it.",
            SINGLING_OUT,
        )
    for name, pairs in near_spellings(original[name] for name in schema.sensitive if name in original.columns):
        yield _asking(
            "spelling",
            f"{counted(pairs, 'pair')} of values of `{name}` {'is' if pairs == 1 else 'are'} nearly spelled alike (a "
            "letter, a plural, the order of words) and counted as different values.",
            f"Write the same value alike, or say {in_column(name, spellings='distinct')} if they are different; "
            f"{either(python='`uc.inspect(data).spellings` lists them', command=LISTED)}.",
            INFERENCE,
        )
    for name, same in run.source.get("by_chance", {}).items():
        yield _asking(
            "names",
            f"{number(sum(same.values()))} of the texts of `{name}` are also values of the identifier {listed(same)}, "
            "by chance or because they name somebody.",
            f"Look at them. Leave the column out, or say {in_column(name, names_nobody=True)}.",
            SINGLING_OUT,
        )
    way = either(python="uc.AlgorithmAware", command="undercover attack DIR --knows-algorithm")
    for called, origin in _foreign(run):
        yield _asking(
            "plug-in",
            f"The {called} is of {origin}: what it says of its safety nobody checked here.",
            f"Attack it on a small table ({way}), and hold it to undercover.testing.",
        )
    for why in run.self_test.get("untested", ()):
        yield _asking(
            "self-test",
            why,
            "Ask the author of the method or form for what its self-test needs (docs/extending.md), or attack the "
            "release and look at it.",
        )
    if run.randomness.get("source") == "seed":
        yield _asking(
            "seed",
            "The run was seeded: whoever knows or guesses the seed can undo its random choices.",
            "Publish without a seed.",
        )


def _whose_rows(run: Run, original: Table) -> Iterator[Reason]:
    """Whether people may have several rows, where nobody said what a person is: one question, whatever asks it."""
    if run.schema.unit is not None or original.units is not None:
        return
    repeated = {name: rows for name, rows in original.repeated.items() if rows}
    looked = run.source.get("people", {})
    found = RepeatedPeople.of(looked) if looked.get("searched") else RepeatedPeople()
    each = option(unit=EACH_ROW)
    if found.keys or (found.asks and not repeated):
        found = found.with_first(next((key.column for key in found.keys if key.column in repeated), None))
        column = found.keys[0].column if found.keys else None
        others = [name for name in repeated if name != column]
        also = f" {listed(others)} {'repeats' if len(others) == 1 else 'repeat'} as well." if others else ""
        name_it = (
            f"Say {option(unit=column)}" if column else f"Name the column that tells them apart ({option(unit=...)})"
        )
        yield _asking(
            "unit",
            found.describe(describe_roles(run.schema, run.source.get("columns", ()))) + also,
            f"{name_it}, or {each} if each row is a person of its own.",
            LINKABILITY,
        )
    elif repeated:
        name, rows = max(repeated.items(), key=lambda entry: entry[1])
        yield _asking(
            "unit",
            f"{number(rows)} of {number(original.n_input)} rows share their `{name}` with another row: rows may be the "
            "same people again.",
            f"Say {option(unit=name)}, and where one row of each is enough, {option(one_row_per='first')} as well; or "
            f"{each} if each row is a person of its own.",
            LINKABILITY,
        )
    elif found.neighbours is not None:
        yield Reason(
            kind="unit",
            weight="note",
            text=found.describe({}),
            change=f"If people have several rows, name the column that tells them apart: {option(unit=...)}.",
        )
    if looked.get("searched") is False and not repeated:
        yield Reason(
            kind="unit",
            weight="note",
            text="Nobody looked whether people have several rows: the table lies in Spark.",
            change=f"Keep one row of each person, or say {each} if each row is a person of its own.",
        )


def _foreign(run: Run) -> Iterator[tuple[str, str]]:
    """Method and form where they are not built in, and whose they are."""
    named = {"methods": run.release.method, "forms": run.release.form.name}
    for kind, name in named.items():
        origin = plugins.origin(kind, name) if name in plugins.names(kind) else "your own code"
        if origin != plugins.HOME or (kind == "methods" and _other_class(run)):
            yield f"{kind[:-1]} `{name}`", "your own code" if origin == plugins.HOME else origin


def _other_class(run: Run) -> bool:
    """Whether the method is of another class than the built-in one of its name."""
    maker, name = run.method, run.release.method
    return (
        maker is not None and name in plugins.BUILT_IN["methods"] and type(maker) is not plugins.load("methods", name)
    )


def _asking(kind: str, text: str, change: str, regulator: str = "") -> Reason:
    return Reason(kind=kind, weight="ask", text=text, change=change, regulator=regulator)


def _free_text(column: EncodedColumn) -> bool:
    """Whether many rows hold sentences, most of them different."""
    if column.domain.kind != "categorical" or column.domain.size < _TEXTS:
        return False
    long = np.array([len(label.split()) >= _WORDS for label in column.domain.labels], dtype=bool)
    return bool(long.sum() >= _TEXTS and long[column.codes].mean() >= _SHARE)
