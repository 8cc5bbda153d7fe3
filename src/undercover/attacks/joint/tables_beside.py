"""The attacker who joins a release with the tables of others that its method was told of.

:mod:`undercover.attacks.joint.attack` joins published tables and knows nobody. Here is the holder, who knows in which
class of the release everybody is and which value everybody has, and asks how surely that value is believed by somebody
who joins the release with the others' tables. Cheong, Wu & Wong 2012, "Non-centralized distinct l-diversity", Section
5.1, Equation 5, with the people n_k of value k and a class E_i of every table:

    P(k | E_1 … E_m)  proportional to  n_k · Π_i  (rows of k in E_i) / n_k

In which classes of the others' tables a person is, a holder does not know. It counts what is worst among those that can
be: they have the person's value, and cover what the release and they both say of the person. So the figure is reached
where somebody is in that combination of classes, and bounds it everywhere else.

Deviation: where there are too many combinations to go through, nothing is worked out, and the verdict says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from undercover.attacks.belief_curve import belief_curve, shares_at_least, shares_table
from undercover.attacks.views import NUMBERS
from undercover.errors import InputError, ParameterError, VerificationError
from undercover.forms.case import Case
from undercover.forms.disclosure import distinct_rows
from undercover.guarantees.joint.diversity import CellReader
from undercover.model.protocols import Beside, Effort, Progress, fits, no_progress
from undercover.model.published import Published
from undercover.model.verdict import Exposure
from undercover.model.view import Part, View, Viewable, certainty, facts, listed, say, table

STORY = (
    "The attacker has this release and the tables of others that it was published beside, knows the quasi-identifiers "
    "of a person who is in all of them, and finds the person's class in each. He keeps the sensitive values that all "
    "of the classes have, and weighs them as if, given the value, the tables had nothing else in common. Which classes "
    "of the others' tables a person is in, the holder does not know: of those that can be, the worst counts."
)
MOST_WORK = 2_000_000_000
"""Classes of the release times combinations of the others' classes times values, beyond which none is worked out."""
JOINT = "together with the tables of others, at worst"
_BLOCK = 1 << 22  # numbers held at a time

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]


@dataclass(frozen=True)
class TablesBesideResult(Viewable):
    """How surely everybody's value can be believed by having the tables of others as well."""

    sensitive: str
    others: tuple[str, ...]
    rows: Whole = field(repr=False)  # (n_people,) input row of each person
    belief: Floats | None = field(repr=False)  # (n_people,) in the true value, at worst; None: too much to work out
    alone: Floats = field(repr=False)  # (n_people,) by this release alone
    prior: Floats = field(repr=False)  # (n_people,) share of the true value in the table
    combinations: int
    story: str = field(default=STORY, repr=False)

    def exposures(self) -> tuple[Exposure, ...]:
        """What can be believed of everybody's value."""
        if self.belief is None:
            return ()
        return (Exposure("tables-beside", self.rows, belief={self.sensitive: self.belief}, joint=JOINT),)

    def open_questions(self) -> tuple[str, ...]:
        """Where there are too many combinations, nobody looked."""
        if self.belief is not None:
            return ()
        return (
            f"What is learnt of `{self.sensitive}` together with {listed(self.others)} was not worked out: there are "
            f"{self.combinations:,} combinations of their classes.",
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON-able values."""
        return {
            "attack": "tables-beside",
            "story": self.story,
            "sensitive": self.sensitive,
            "others": list(self.others),
            "targets": len(self.rows),
            "combinations": self.combinations,
            "alone": _figures(self.alone),
            "together": None if self.belief is None else _figures(self.belief),
            "baseline": float(self.prior.mean()),
        }

    def view(self) -> View:
        """How sure he can be, by the release alone and with the others' tables."""
        found = self.to_dict()
        rows: list[Any] = [("this release", found["alone"]["mean"], found["alone"]["max"], found["alone"]["certain"])]
        parts: list[Part] = [facts(("people", found["targets"]), ("tables of others", listed(found["others"])))]
        together = found["together"]
        if together is not None:
            rows.append(("with the others' tables", together["mean"], together["max"], together["certain"]))
        columns = ("he has", "sure of the true value, mean", "worst", "certain of")
        parts.append(table(columns, "plain risk risk count", rows))
        parts.append(say("Guessing is right with {baseline} on average.", found["baseline"]))
        if together is None:
            parts += self.open_questions()
            return View("tables-beside", "Beside the tables of others", tuple(parts), story=self.story, private=True)
        parts.append(shares_table({self.sensitive: together["at_least"]}))
        verdict = certainty(together["max"])
        title = "Beside the tables of others"
        return View("tables-beside", title, tuple(parts), *verdict, self.story, NUMBERS, private=True)

    def __repr__(self) -> str:
        worst = "not worked out" if self.belief is None else f"up to {self.belief.max():.3f} sure"
        return f"<Tables of {len(self.others)} others beside {len(self.rows):,} people: {worst}; .belief has everybody>"


def _figures(found: Floats) -> dict[str, Any]:
    return {
        "mean": float(found.mean()),
        "max": float(found.max()),
        "certain": int((found >= 1 - 1e-9).sum()),
        "at_least": shares_at_least(found),
        "curve": belief_curve(found),
    }


@dataclass(frozen=True, kw_only=True)
class TablesBeside:
    """An attacker who joins a release with the tables of others that it was made beside.

    Examples
    --------
    >>> import undercover as uc
    >>> people = uc.datasets.census(1000, seed=1)
    >>> first = uc.publish(people, uc.Schema(quasi_identifiers=["age"], sensitive="income"), uc.Mondrian(k=100))
    >>> schema = uc.datasets.census_schema(["sex", "race"])
    >>> run = uc.publish(people, schema, uc.NonCentralized(l=2, others=[uc.published(first, name="revenue")]))
    >>> found = uc.attack(run, TablesBeside())
    >>> found.others, bool((found.belief >= found.alone - 1e-9).any())
    (('revenue',), True)
    """

    name: ClassVar[str] = "tables-beside"
    effort: ClassVar[Effort] = "report"
    slow: ClassVar[bool] = False

    def applies(self, case: Case) -> str | None:
        """The method names tables of others, and they are at hand."""
        if case.run is None or len(case.original.schema.sensitive) != 1:
            return "Who joins tables of others needs the private run of a release with one sensitive column."
        if not case.reading.true_values:
            return "Tables of others are joined by true values; here they were drawn or dealt anew."
        try:
            return None if _tables(case) else "The release was not made beside tables of others."
        except (InputError, VerificationError) as error:  # a table that is gone: the reason why it cannot be joined
            return f"The tables of others are not at hand: {error}"

    def run(self, case: Case, *, progress: Progress = no_progress) -> TablesBesideResult:
        """Weigh everybody's value by every combination of classes that can be theirs."""
        why_not = self.applies(case)
        if why_not is not None or case.run is None:
            raise ParameterError(why_not or "")
        others, original, run = _tables(case), case.original, case.run
        (sensitive,) = original.schema.sensitive
        places = original.places(run.rows)
        column = original[sensitive]
        codes, labels = column.codes[places].astype(np.int64), run.groups.labels if run.buckets is None else run.buckets
        shared = [
            name for name in original.schema.quasi_identifiers if any(name in o.quasi_identifiers for o in others)
        ]
        keys = [labels.astype(np.int64), *(original[name].codes[places].astype(np.int64) for name in shared)]
        target_of, targets = distinct_rows(np.stack(keys, axis=1))
        counts = np.zeros((int(labels.max(initial=-1)) + 1, column.domain.size))
        np.add.at(counts, (labels, codes), 1)
        totals = counts.sum(axis=0)
        own = counts[targets[:, 0]]  # (n_targets, n_values)
        alone = own / own.sum(axis=1, keepdims=True)
        combinations = prod(other.n_classes for other in others)
        belief = None
        if combinations * len(targets) * len(totals) <= MOST_WORK:
            meets = [_meeting(case, other, shared, targets) for other in others]
            aligned = [_aligned(other, column.domain.labels) for other in others]
            belief = np.zeros_like(own)
            for weights, met in _combined(aligned, meets, totals, len(targets)):
                _raise_to(belief, own, weights, met)
            belief = np.where(belief > 0, belief, alone)[target_of, codes]
        return TablesBesideResult(
            sensitive=sensitive,
            others=tuple(other.name for other in others),
            rows=original.numbers(places),
            belief=belief,
            alone=alone[target_of, codes],
            prior=totals[codes] / totals.sum(),
            combinations=combinations,
        )


def _tables(case: Case) -> Sequence[Published]:
    """The tables of others that the method of a case was told of."""
    method = case.run.method if case.run is not None else None
    if method is None and case.made_by is not None:
        method = case.method
    return method.tables_beside(case.original) if method is not None and fits(method, Beside) else ()


def _aligned(other: Published, labels: Sequence[str]) -> Floats:
    """(n_classes, n_values) rows of each value in the classes of another table, in the order of our values."""
    place = {label: position for position, label in enumerate(labels)}
    found = np.zeros((other.n_classes, len(labels)))
    known = [(position, place[label]) for position, label in enumerate(other.values) if label in place]
    for theirs, ours in known:
        found[:, ours] = other.counts[:, theirs]
    return found


def _meeting(case: Case, other: Published, shared: Sequence[str], targets: Whole) -> NDArray[np.bool_]:
    """(n_targets, n_classes) whether a class of another table can be a target's, by the columns both have."""
    met = np.ones((len(targets), other.n_classes), dtype=bool)
    for place, name in enumerate(shared, 1):
        if name not in other.cells:
            continue
        column, cells = case.original[name], other.cells[name]
        tree = column.settings.hierarchy
        rows = tree.rows if tree is not None else [(label,) for label in column.domain.labels]
        reader = CellReader(rows)
        covers = np.array(
            [
                [bool(reader.leaves(value) & reader.leaves(cell)) for cell in cells.labels]
                for value in column.domain.labels
            ]
        )
        met &= covers[targets[:, place]][:, cells.codes]
    return met


def _combined(
    tables: Sequence[Floats], meets: Sequence[NDArray[np.bool_]], totals: Floats, n_targets: int
) -> Iterator[tuple[Floats, NDArray[np.bool_]]]:
    """Combinations of the others' classes, some at a time: (n, n_values) weights, and (n_targets, n) who can be in."""
    scaled = [np.divide(each, totals, out=np.zeros_like(each), where=totals > 0) for each in tables]
    *outer, last = range(len(tables))
    step = max(1, _BLOCK // max(n_targets, 1))
    for chosen in product(*(range(len(tables[place])) for place in outer)):
        weight, met = np.ones(len(totals)), np.ones(n_targets, dtype=bool)
        for place, number in zip(outer, chosen, strict=True):
            weight, met = weight * scaled[place][number], met & meets[place][:, number]
        for start in range(0, len(tables[last]), step):
            part = slice(start, start + step)
            yield weight * scaled[last][part], met[:, None] & meets[last][:, part]


def _raise_to(belief: Floats, own: Floats, weights: Floats, met: NDArray[np.bool_]) -> None:
    """Raise (n_targets, n_values) beliefs to what these combinations make of them, where somebody can be in them."""
    total = own @ weights.T  # (n_targets, n_combinations)
    possible = met & (total > 0)
    inverse = np.divide(1.0, total, out=np.zeros_like(total), where=possible)
    for value in np.flatnonzero(weights.any(axis=0)):
        here = own[:, value] > 0
        most = (inverse[here] * weights[:, value]).max(axis=1, initial=0.0)
        belief[here, value] = np.maximum(belief[here, value], own[here, value] * most)
