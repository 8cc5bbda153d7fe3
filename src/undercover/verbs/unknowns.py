"""What nobody knows of a release, or nobody checked: what its holder has to decide."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from undercover import plugins
from undercover.errors import listed
from undercover.model.figures import number
from undercover.model.run import Run
from undercover.model.schema import ALL_OTHERS
from undercover.model.table import EncodedColumn, Table
from undercover.model.verdict import INFERENCE, LINKABILITY, SINGLING_OUT, Reason
from undercover.wording import either, in_column, option

_WORDS, _TEXTS, _SHARE = 5, 20, 0.1  # free text: so many words in so many different values and this share of the rows


def algorithm(run: Run) -> Iterator[Reason]:
    """Whether the method's own choices tell more than the tables say."""
    wish = run.policy.algorithm_safe
    if run.release.algorithm_safe or wish == "ignored":
        return
    yield Reason(
        kind="algorithm",
        weight="stop" if wish == "required" else "ask",
        text="Somebody who knows the method may learn more than the tables say: its choices depend on sensitive "
        "values.",
        regulator=INFERENCE,
        change="Choose a method or variant that is algorithm-safe.",
    )


def unknowns(run: Run, original: Table) -> Iterator[Reason]:
    """What nobody knows, or nobody checked."""
    schema = run.schema
    repeated = {name: rows for name, rows in original.repeated.items() if rows}
    if repeated and original.units is None:
        name, rows = max(repeated.items(), key=lambda entry: entry[1])
        yield _asking(
            "unit",
            f"What a person is, nobody said: {number(rows)} of {number(original.n_input)} rows share their `{name}` "
            "with another row, and everything was counted per row.",
            f"Say {option(unit=name)}, and where one row of each is enough, {option(one_row_per='first')} as well.",
            LINKABILITY,
        )
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
