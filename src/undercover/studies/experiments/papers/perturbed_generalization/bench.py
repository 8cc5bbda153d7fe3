"""What the experiment on perturbed generalization measures: guarantees, errors of decision trees, corruption."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercover.attacks.corruption.channel import Corruption
from undercover.forms.case import Case
from undercover.guarantees.breach.bounds import Bound, growth_bound, rho2_bound
from undercover.methods.perturbed_generalization.method import PerturbedGeneralization, Way
from undercover.model.protocols import Progress
from undercover.model.release import Release
from undercover.randomness import Randomness
from undercover.studies.experiments.bench import TableBench
from undercover.utility.measures import measure
from undercover.verbs.publish import publish_table

OPTIMISTIC, PESSIMISTIC, OURS, MAJORITY = "optimistic", "pessimistic", "perturbed generalization", "majority"
SKEW, RHO1 = 0.1, 0.2
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, kw_only=True)
class Bench(TableBench):
    """A table, and the classes into which its sensitive domain is divided."""

    domain: tuple[str, ...]  # the declared sensitive values, in order
    classes: dict[int, tuple[int, ...]]  # for every number of classes: where in the domain each class ends
    _kept: dict[tuple[int, float, int, Way], Release] = field(default_factory=dict)

    def prepare(self, progress: Progress) -> None:
        """Encode the table and compile the kernels."""
        super().prepare(progress)
        progress("compiling", 0.0)
        self.release(max(2, self.table.n_rows // 10), 0.5, seed=0)

    def guarantee(self, bound: Bound, k: int, p: float) -> dict[str, float]:
        """ρ2 from ρ1 = 0.2 and Δ at λ = 0.1 for fifty values, as in Table III."""
        given: dict[str, Any] = {"p": p, "k": k, "domain": 50, "skew": SKEW, "bound": bound}
        return {"ρ2": rho2_bound(rho1=RHO1, **given), "Δ": growth_bound(**given)}

    def ours(self, k: int, p: float, seed: int, recoding: Way = "mondrian") -> dict[str, float]:
        """Errors on all rows of trees learnt from a release, and what the release alone says of them."""
        from undercover.analysis.learning.classifier import fit_release

        release = self.release(k, p, seed, recoding)
        found: dict[str, float] = {"cells": release.published().rows}
        for m in self.classes:
            model = fit_release(release, self._named(m))
            exact, true = model.features_.rows(self.table), model.features_.classes_of(self.table)
            found[error_of(m)] = float((model.predict(exact) != true).mean())
            found[estimated(m)] = 1 - model.accuracy_.value
            found[estimated_spread(m)] = model.accuracy_.standard_error
        return found

    def yardstick(self, name: str, k: int, seed: int) -> dict[str, float]:
        """Errors of a tree learnt from n/k exact rows: with their own values, or with random ones."""
        from undercover.analysis.learning.classifier import PerturbedClassifier

        rows = self.table.n_rows
        chosen = np.argsort(Randomness(seed).words("sample", rows), kind="stable")[: max(2, rows // k)]
        found = {}
        for m, ends in self.classes.items():
            true = np.searchsorted(np.array(ends), self._positions(), side="left")
            if name == MAJORITY:
                found[error_of(m)] = 1 - float(np.bincount(true).max()) / rows
                continue
            labels = true[chosen]
            if name == PESSIMISTIC:
                drawn = Randomness(seed).words("random values", len(chosen)) % np.uint32(len(self.domain))
                labels = np.searchsorted(np.array(ends), drawn, side="left")
            exact = self._exact(chosen, labels)
            model = PerturbedClassifier(random_state=seed).fit(exact[chosen], labels)
            found[error_of(m)] = float((model.predict(exact) != true).mean())
        return found

    def loss(self, k: int, recoding: Way) -> dict[str, float]:
        """How wide cells are: the mean share of a column's range, and how many cells there are."""
        release = self.release(k, 0.3, 0, recoding)
        found = measure(Case(self.table, release)).loss["ncp"]
        return {"loss": found.arithmetic, "cells": release.published().rows}

    def corruption(self, k: int, p: float, share: float, seed: int) -> dict[str, float]:
        """The worst rise of confidence over everybody, the bound, and who is certain where true values are "
        "published."""
        release = self.release(k, p, seed)
        found = Corruption(shares=(share,)).run(Case(self.table, release))
        return {
            "largest growth": found.worst_growth,
            "bound": max(entry["bound"] for entry in found.sweep),
            "excess": max(entry["growth"]["max"] - entry["bound"] for entry in found.sweep),
            "certain if plain": found.plain[0]["certain_rows"] / found.people,
        }

    def release(self, k: int, p: float, seed: int, recoding: Way = "mondrian") -> Release:
        """A release; the last one made is kept."""
        key = (k, p, seed, recoding)
        if key not in self._kept:
            method = PerturbedGeneralization(k=k, p=p, skew=SKEW, recoding=recoding)
            self._kept.clear()
            self._kept[key] = publish_table(self.table, method, randomness=Randomness(seed)).release
        return self._kept[key]

    def _named(self, m: int) -> dict[str, list[str]]:
        starts = (0, *(end + 1 for end in self.classes[m][:-1]))
        return {
            f"class {i}": list(self.domain[start : end + 1])
            for i, (start, end) in enumerate(zip(starts, self.classes[m], strict=True))
        }

    def _positions(self) -> NDArray[np.int64]:
        """Where in the declared domain each row's value stands."""
        column = self.table[self.table.schema.sensitive[0]]
        place = {label: position for position, label in enumerate(self.domain)}
        return np.array([place[label] for label in column.domain.labels], dtype=np.int64)[column.codes]

    def _exact(self, chosen: NDArray[np.int64], labels: NDArray[np.int64]) -> Floats:
        """Every row as numbers: categories by the mean class of those who have them in the sample."""
        columns = []
        for name in self.table.schema.quasi_identifiers:
            column = self.table[name]
            if column.domain.kind != "categorical":
                columns.append(column.codes.astype(np.float64))
                continue
            codes = column.codes[chosen].astype(np.int64)
            count = np.bincount(codes, minlength=column.domain.size)
            total = np.bincount(codes, weights=labels, minlength=column.domain.size)
            mean = (total + labels.mean()) / (count + 1)
            columns.append(mean[column.codes])
        return np.stack(columns, axis=1)


def error_of(m: int) -> str:
    """The measure of the error with m classes."""
    return f"error, m = {m}"


def estimated(m: int) -> str:
    """The measure of the error as the release alone tells it."""
    return f"estimated error, m = {m}"


def estimated_spread(m: int) -> str:
    """Its standard error."""
    return f"standard error, m = {m}"
