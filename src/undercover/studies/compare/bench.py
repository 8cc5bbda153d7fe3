"""What a comparison measures of one release: published, attacked by whatever applies, measured by whatever applies.

Figures are numbers by name. What cannot be measured on a table (sums of text, a tree without scikit-learn) has its
reason instead, under ``why.<measure>``.
"""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from undercover import plugins
from undercover.attacks.corruption.channel import Corruption
from undercover.attacks.corruption.true_values import full_corruption
from undercover.attacks.linkage import Linkage
from undercover.attacks.partial.profile import PAPERS, profile
from undercover.attacks.told_groups import ToldGroups
from undercover.engines.local import LocalEngine
from undercover.errors import SchemaError, UndercoverError
from undercover.forms import read
from undercover.forms.case import Case, as_release
from undercover.forms.estimates import Estimates, estimates_of_rows
from undercover.forms.loss import losses
from undercover.io.source import Input
from undercover.model.about import about_of
from undercover.model.policy import STANDARD, Policy
from undercover.model.protocols import Progress
from undercover.model.run import Run
from undercover.model.schema import Schema
from undercover.model.table import Table
from undercover.parameters import make
from undercover.randomness import Randomness
from undercover.studies.compare.plan import Planned
from undercover.studies.recommend.purpose import neighbours, nothing_kept, purpose_of
from undercover.studies.recommend.search import share_over
from undercover.utility.classification import Classification
from undercover.utility.kept import distances_of
from undercover.utility.queries.counts import QueryError
from undercover.utility.queries.sums import SumError
from undercover.verbs.joint import with_published
from undercover.verbs.publish import publish
from undercover.waiting import through

Figures = dict[str, Any]
WHY = "why."
SMALL = 2000  # rows on which a method is tried so that it is compiled before it is timed
MOST_SUBSETS = 10  # known columns up to which an attacker who matches on some of them is tried
MOST_PAIRS = 4_000_000  # of people and rows of their group up to which the informed adversary is tried
_DRAWN = "Quasi-identifiers are drawn, not generalised: no cell is wider than a value, which says nothing of the loss."
T = TypeVar("T")

_CLEAR = Path("/proc/self/clear_refs")
_STATUS = Path("/proc/self/status")
_RESET_PEAK = "5"


@dataclass(frozen=True, eq=False)
class Bench:
    """A table, and how it is measured."""

    given: Input
    schema: Schema
    table: Table  # the same, encoded
    queries: int = 100  # COUNT about each set of columns, and half as many SUM queries altogether
    seed: int = 0  # of the methods and the queries
    policy: Policy = STANDARD  # what may happen to people

    def prepare(self, planned: Sequence[Planned], progress: Progress) -> None:
        """Try every method on a few rows, so that what is compiled once is not timed."""
        words = Randomness(self.seed).words("rows to try", self.table.n_rows)
        few = self.table.take(np.sort(np.argsort(words, kind="stable")[:SMALL]))
        kinds = list({one.label: (one.label, one.method, one.parameters) for one in planned}.values())
        for _, method, parameters in through(progress, "compiling", kinds, lambda kind: kind[0]):
            try:
                made = with_published(make("methods", method, parameters), self.schema)
                made.anonymize(few, engine=LocalEngine(), randomness=Randomness(self.seed))
            except UndercoverError:
                continue  # refused here, it may be refused there: then with its reason

    def original(self) -> Figures:
        """The table as it is, and what can be done without it."""
        shown = Linkage().run(Case(self.table, as_release(self.table))).after
        found = _spread_of("identity", [shown.identity])
        found["guessing.identity"] = 1.0 / self.table.n_rows
        if self.schema.sensitive:
            found |= _spread_of("attribute", shown.attribute.values())
            shares = [np.bincount(self.table[name].codes) / self.table.n_rows for name in self.schema.sensitive]
            found["guessing.attribute.mean"] = max(float((share**2).sum()) for share in shares)
            found["guessing.attribute.worst"] = max(float(share.max()) for share in shares)
            _add(found, "classification", self._references)
        _add(found, "nothing", lambda: {"nothing.pairwise": self._nothing()})
        return found

    def _nothing(self) -> float:
        """The distance of pairs where every quasi-identifier is ``*``: what there is to lose."""
        return purpose_of("looking", self.schema).on(self.table)(nothing_kept(self.table))

    def release(self, method: str, parameters: Mapping[str, Any]) -> Figures:
        """Make one release and measure it."""
        made, grown = peak_growth(lambda: self._published(method, parameters))
        found: Figures = {
            "cost.seconds": made.timings["anonymize"],
            "cost.verify_seconds": made.timings["verify"],
            "rows": sum(table.rows for table in made.release.tables[:1]),
            "suppressed": made.release.suppressed_rows,
            "groups": made.groups.count,
        }
        if grown is None:
            found[f"{WHY}memory"] = "Peak memory can be measured on Linux only."
        else:
            found["cost.memory"] = grown
        self._attack(made, found)
        self._measure(made, found)
        return found | self._judged(made)

    def _published(self, method: str, parameters: Mapping[str, Any]) -> Run:
        return publish(self.given, self.schema, make("methods", method, parameters), seed=self.seed)

    def _judged(self, made: Run) -> Figures:
        """The verdict over such a release, were it drawn anew: without what is said of the seed of this one."""
        verdict = replace(made, randomness={"source": "os"}, policy=self.policy).verdict
        return {
            "verdict": verdict.title,
            "verdict.over": share_over(verdict, len(made.rows)),
            "verdict.asks": len(verdict.weighing("ask")),
            "verdict.reasons": [reason.text for reason in verdict.ordered()],
        }

    def _attack(self, made: Run, found: Figures) -> None:
        case, known = Case(self.table, made.release, made), _known(self.schema, made)

        def linkage() -> Figures:
            result = Linkage(known=known).run(case)
            after, believes = result.after, bool(result.after.attribute) and result.posterior
            secret = _spread_of("attribute.linkage", after.attribute.values()) if believes else {}
            return _spread_of("identity.linkage", [after.identity]) | secret

        def partly() -> Figures:
            if len(known) > MOST_SUBSETS:
                raise SchemaError(f"An attacker who knows {len(known)} columns has too many subsets to match on.")
            found_at = profile(case.reading, self.table, known, own=case.own, dealt=case.dealt, threads=case.threads)
            sweep = [found_at.at(p) for p in PAPERS]
            values = _strongest("identity.partial-linkage", [[identity] for identity, _, _, _ in sweep])
            if self.schema.sensitive and case.reading.posterior:
                values |= _strongest("attribute.partial-linkage", [list(secret.values()) for _, _, secret, _ in sweep])
            return values

        def told() -> Figures:
            return _spread_of(f"attribute.{ToldGroups.name}", ToldGroups().run(case).attribute.values())

        def by_own(attack: str) -> Figures:
            if int((made.groups.sizes**2).sum()) > MOST_PAIRS:
                raise SchemaError(
                    f"The groups are too large (up to {int(made.groups.sizes.max()):,} people) to work out for "
                    "everybody who of his group released which row. The figures are those of outsiders."
                )
            result = plugins.load("attacks", attack)().run(case)
            values = _spread_of(f"identity.{attack}", [result.identity])
            return values | _spread_of(f"attribute.{attack}", [result.attribute])

        _add(found, "linkage", linkage)
        if not case.reading.covers:
            _add(found, "partial-linkage", partly)
        if not case.reading.posterior and case.dealt is not None and self.schema.sensitive:
            _add(found, ToldGroups.name, told)
        for name in about_of(made.release.method).attacks:
            if plugins.load("attacks", name).effort == "report":
                _add(found, name, partial(by_own, name))
        if self.schema.sensitive:
            _add(found, "corruption", lambda: self._corrupted(case, made))

    def _corrupted(self, case: Case, made: Run) -> Figures:
        if case.reading.channel is None:  # dealt or not, the values of all others leave one
            inside = np.isin(self.table.rows, made.rows)
            sure = full_corruption(self.table, case.reading, published=inside)
            return _spread_of("corruption", sure.values())
        result = Corruption(shares=(1.0,)).run(case)
        overall = next(entry for entry in result.sweep if entry["prior"] == "overall")
        return {
            "corruption.mean": overall["confidence"]["mean"],
            "corruption.worst": overall["confidence"]["max"],
            "corruption.growth": result.worst_growth,
        }

    def _measure(self, made: Run, found: Figures) -> None:
        reading = read(made.release)
        if not reading.covers:
            found[f"{WHY}iloss"] = _DRAWN
        else:
            _add(found, "iloss", lambda: {"iloss": losses(self.table, reading)["iloss"].arithmetic})
        _add(found, "count", lambda: self._counts(made))
        _add(found, "sum", lambda: self._sums(made))
        shown: list[Estimates] = []

        def apart() -> Figures:
            shown.append(reading.estimates(self.table))
            far = distances_of(self.table, shown[0]).to_dict()
            values = {"marginal.mean": far["columns"]["mean"], "marginal.worst": far["columns"]["worst"]}
            if far["pairs"]["each"]:
                values |= {"pairwise.mean": far["pairs"]["mean"], "pairwise.worst": far["pairs"]["worst"]}
            return values

        _add(found, "marginal", apart)
        if shown:
            _add(found, "classification", lambda: {"classification.error": self._learnt(shown[0])})

    def _counts(self, made: Run) -> Figures:
        known = _known(self.schema, made)
        names = [name for name in self.schema.quasi_identifiers if name in known]
        errors = [
            result.errors
            for sensitive in self._needed("COUNT queries ask about a sensitive value")
            for result in QueryError(
                quasi_identifiers=neighbours(names), sensitive=sensitive, queries=self.queries, seed=self.seed
            )
            .of_release(self.table, made.release)
            .values()
        ]
        return _middle("count", errors)

    def _sums(self, made: Run) -> Figures:
        numeric = [name for name in self.schema.sensitive if self.table[name].domain.kind == "numeric"]
        if not numeric:
            raise SchemaError("SUM queries add up numbers, and no sensitive column has any.")
        off, wide = [], []
        for name in numeric:
            result = SumError(queries=-(-self.queries // 2), sensitive=name, seed=self.seed).of_release(
                self.table, made.release
            )
            off.append(np.abs(result.estimated - result.exact) / np.abs(result.exact))
            if result.bounded:
                wide.append(result.errors)
        values = _middle("sum", off)
        return values | ({"sum.bounds": float(np.median(np.concatenate(wide)))} if wide else {})

    def _learnt(self, shown: Estimates) -> float:
        columns = self._needed("Classification learns a sensitive column")
        return float(
            np.mean([Classification(sensitive=name, seed=self.seed).error(self.table, shown) for name in columns])
        )

    def _references(self) -> Figures:
        tasks = [Classification(sensitive=name, seed=self.seed) for name in self.schema.sensitive]
        return {
            "guessing.classification": float(np.mean([task.majority(self.table) for task in tasks])),
            "classification.error": self._learnt(estimates_of_rows(self.table)),
        }

    def _needed(self, purpose: str) -> tuple[str, ...]:
        if not self.schema.sensitive:
            raise SchemaError(f"{purpose}, and there is none.")
        return self.schema.sensitive


def _add(found: Figures, measure: str, call: Callable[[], Figures]) -> None:
    try:
        found.update(call())
    except UndercoverError as error:
        found[f"{WHY}{measure}"] = str(error)


def _known(schema: Schema, made: Run) -> tuple[str, ...]:
    """What the attacker knows and the release shows."""
    shown = {column.name for table in made.release.tables for column in table.columns}
    return tuple(name for name in schema.quasi_identifiers + schema.insensitive if name in shown)


def _spread_of(name: str, found: Iterable[NDArray[np.float64]]) -> Figures:
    """Mean and worst row of probabilities, over the columns that are known best."""
    columns = list(found)
    worst = max(float(column.max()) for column in columns)
    return {f"{name}.mean": max(float(column.mean()) for column in columns), f"{name}.worst": worst}


def _strongest(name: str, found: Sequence[Sequence[NDArray[np.float64]]]) -> Figures:
    """The same over several strengths of one attack."""
    each = [_spread_of(name, columns) for columns in found]
    return {figure: max(values[figure] for values in each) for figure in each[0]}


def _middle(name: str, parts: Sequence[NDArray[np.float64]]) -> Figures:
    errors = np.concatenate(parts)
    return {f"{name}.mean": float(errors.mean()), f"{name}.median": float(np.median(errors))}


def peak_growth(call: Callable[[], T]) -> tuple[T, int | None]:
    """The result of a call, and the bytes by which the process grew at its peak during it (Linux).

    What the allocator keeps of earlier calls is given back first, lest it be used again unseen. The figure is ``None``
    where the system does not tell.
    """
    gc.collect()
    pa.default_memory_pool().release_unused()
    try:
        ctypes.CDLL(None).malloc_trim(0)
        _CLEAR.write_text(_RESET_PEAK)
        before = _status("VmRSS")
    except (OSError, AttributeError, TypeError):  # no such file, no such function, no C library
        return call(), None
    result = call()
    return result, max(0, _status("VmHWM") - before)


def _status(field: str) -> int:
    for line in _STATUS.read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise OSError(f"`{_STATUS}` has no {field}.")
