"""What every guarantee must pass: it comes back from a spec and a manifest, says what it means, minds no union.

Where it decides whether it holds across releases (``holds_jointly``), it says no only by bounds.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import get_args

import numpy as np
import pyarrow as pa

from undercover import plugins
from undercover.errors import ParameterError
from undercover.forms.classes import Classes, classes_of_table
from undercover.guarantees.checking import Checkable, holds_jointly
from undercover.guarantees.requirements import FOUND, guarantee_from_mapping
from undercover.model.beliefs import BeliefBlock, JointBeliefs
from undercover.model.finding import Sense
from undercover.model.protocols import Cover
from undercover.testing.holding import as_plain, must

TABLES = 40


def check_guarantee(guarantee: Checkable, *, unions: bool = True) -> None:
    """Hold a guarantee to its word.

    Parameters
    ----------
    guarantee
        With numbers that tables of eight people keep now and then.
    unions
        Whether classes that keep it keep it together, as they do with k, l and t. Say no where they need not.

    Examples
    --------
    >>> import undercover as uc
    >>> check_guarantee(uc.KAnonymity(k=2))
    """
    called = f"The guarantee {guarantee!r}"
    must(guarantee.name in plugins.names("guarantees"), f"{called} is offered by nobody under its name.")
    must(guarantee.sense in get_args(Sense), f"{called} has a sense of {guarantee.sense!r}.")
    must(guarantee.title().strip() and guarantee.meaning().strip(), f"{called} says nothing of itself.")
    must(
        guarantee.covers() <= set(get_args(Cover)),
        f"{called} covers {guarantee.covers()}: unknown.",
    )
    _comes_back(guarantee, called)
    _decides_jointly(guarantee, called)
    if unions:
        _minds_no_union(guarantee, called)


def _decides_jointly(guarantee: Checkable, called: str) -> None:
    """Across releases it answers yes, no or nothing; no by bounds alone, and never yes only where more is known.

    Eight people have four values. Either nothing is bounded and the attack takes itself to be certain, or everybody's
    value is certain by bounds, or no more is known than how frequent values are.
    """
    certain, alike = np.eye(4)[np.arange(8) % 4], np.full((8, 4), 0.25)
    answers = {
        "assumed": holds_jointly(guarantee, _beliefs(np.zeros((8, 4)), np.ones((8, 4)), certain)),
        "certain": holds_jointly(guarantee, _beliefs(certain, certain, certain)),
        "alike": holds_jointly(guarantee, _beliefs(alike, alike, alike)),
    }
    for answer in answers.values():
        must(answer in (True, False, None), f"{called} answers {answer!r} across releases: True, False or None.")
    must(
        answers["assumed"] is not False,
        f"{called} fails across releases by what an attack assumes. Decide on `least` and `most` only.",
    )
    must(
        answers["certain"] is not True or answers["alike"] is True,
        f"{called} holds across releases where everybody's value is certain, and not where nothing is learnt.",
    )


def _beliefs(least: np.ndarray, most: np.ndarray, assumed: np.ndarray) -> JointBeliefs:
    block = BeliefBlock(np.ones(len(least), dtype=np.int64), least, most, assumed)
    labels = tuple(f"s{value}" for value in range(least.shape[1]))
    overall = np.full(least.shape[1], len(least) // least.shape[1])
    return JointBeliefs("s", labels, overall, lambda: iter([block]), np.full(len(least), len(least)))


def _comes_back(guarantee: Checkable, called: str) -> None:
    """The same guarantee from a spec, and from what a manifest says of a check."""
    stated = as_plain(called, {"name": guarantee.name, **guarantee.parameters()})
    must(guarantee_from_mapping(stated) == guarantee, f"{called} comes back from a spec as another: {stated}")
    for classes in _tables(3):
        try:
            finding = guarantee.check(classes)
        except ParameterError:
            continue
        entry = as_plain(called, finding.manifest_entry())
        promised = {key: value for key, value in entry.items() if key not in FOUND}
        must(guarantee_from_mapping(promised) == guarantee, f"{called} comes back from a manifest as another: {entry}")
        told = finding.holds is not None or finding.needs
        must(told, f"{called} neither holds nor fails, and does not say what it needs.")


def _minds_no_union(guarantee: Checkable, called: str) -> None:
    """Where every class keeps it, every two classes made one do."""
    kept = 0
    for classes in _tables(TABLES):
        if classes.count < 2 or guarantee.check(classes).holds is not True:
            continue
        kept += 1
        for one, other in combinations(range(classes.count), 2):
            joined = _classes(np.where(classes.labels == other, one, classes.labels), classes)
            holds = guarantee.check(joined).holds
            must(holds, f"{called} holds of the classes {_shown(classes)}, but not when two of them are made one.")
    must(kept, f"{called} holds of none of {TABLES} tables of eight people. Check one that asks for less.")


def _tables(count: int) -> Iterator[Classes]:
    """Classes of eight people, drawn; every fourth table lets all values differ."""
    draws = np.random.default_rng(8)
    for number in range(count):
        values = np.arange(8) if number % 4 == 0 else draws.integers(0, 4, 8)
        labels = draws.integers(0, 3, 8) if number % 2 else np.arange(8) // 4
        yield classes_of_table(_table(labels, values), ["x"], ["s"], suppressed_is_star=False)


def _classes(labels: np.ndarray, like: Classes) -> Classes:
    values = [int(value[1:]) for value in like.data.column("s").to_pylist()]
    return classes_of_table(_table(labels, np.array(values)), ["x"], ["s"], suppressed_is_star=False)


def _table(labels: np.ndarray, values: np.ndarray) -> pa.Table:
    return pa.table({"x": labels, "s": [f"s{value}" for value in values]})


def _shown(classes: Classes) -> dict[str, list[str]]:
    found: dict[str, list[str]] = classes.data.to_pydict()
    return found
