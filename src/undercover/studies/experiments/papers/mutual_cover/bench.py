"""What the mutual cover experiment measures of a release: disclosure by P, ILoss, SUM error, the informed adversary."""

from __future__ import annotations

import numpy as np

from undercover.attacks.partial.profile import PAPERS, profile
from undercover.forms.case import Case
from undercover.forms.displacement import papers_iloss
from undercover.forms.written import written
from undercover.methods.anatomy.method import Anatomy
from undercover.methods.mondrian.method import Mondrian
from undercover.methods.mutual_cover.informed import Informed
from undercover.methods.mutual_cover.method import MutualCover
from undercover.model.protocols import Method
from undercover.model.run import Run
from undercover.randomness import Randomness
from undercover.studies.experiments.bench import TableBench
from undercover.utility.queries.sums import SumError
from undercover.verbs.publish import publish_table

COVER, RESAMPLED, ALONE = "mutual cover", "mutual cover (drawn again)", "mutual cover (tables alone)"
MONDRIAN, ANATOMY = "mondrian", "anatomy"
COVERS = {COVER: "paper", RESAMPLED: "resample", ALONE: "off"}  # what becomes of unchanged rows

ILOSS, ILOSS_CELL, ERROR, MEDIAN = "ILoss", "ILoss per cell", "SUM error", "median SUM error"
KNOWS_ROW, KNOWS_VALUE, IN_GROUP = "informed identity", "informed attribute", "guessing in the group"
ABOVE_DELTA, EFFECTIVE, ALIKE = "tables above delta", "largest effective share", "rows left unchanged"


def identity_at(p: float) -> str:
    """The name of a figure.

    >>> identity_at(0.7), attribute_at(1.0)
    ('identity, P = 0.7', 'attribute, P = 1')
    """
    return f"identity, P = {p:g}"


def attribute_at(p: float) -> str:
    """The name of a figure."""
    return f"attribute, P = {p:g}"


class Bench(TableBench):
    """A table and what is measured on it."""

    def measure(self, method: str, delta: str, l: int, seed: int) -> dict[str, float]:  # noqa: E741
        """Publish, verify, attack every row, and ask for sums; the same queries for every release of a seed."""
        table = self.table
        run = publish_table(table, method_of(method, delta, l), randomness=Randomness(seed))
        case = Case.of(run)
        found = profile(case.reading, table, table.schema.quasi_identifiers, own=case.own, threads=case.threads)
        (sensitive,) = table.schema.sensitive
        figures: dict[str, float] = {}
        for p in PAPERS:
            means = found.means(p)
            figures[identity_at(p)] = means["identity"]["mean"]
            figures[attribute_at(p)] = means["attribute"][sensitive]["mean"]
        if method != ANATOMY:
            figures[ILOSS] = papers_iloss(table, case.reading, case.own)
            figures[ILOSS_CELL] = figures[ILOSS] / table.n_rows / len(table.schema.quasi_identifiers)
        if table[sensitive].domain.kind == "numeric":
            errors = SumError(queries=self.queries, seed=seed).of_release(table, run.release)
            figures |= {ERROR: errors.mean, MEDIAN: errors.median}
        if method in COVERS:
            informed = Informed().run(case)
            figures |= {
                KNOWS_ROW: float(informed.identity.mean()),
                KNOWS_VALUE: float(informed.attribute.mean()),
                IN_GROUP: float((1 / informed.sizes).mean()),
                ABOVE_DELTA: _above_delta(run, len(table.schema.quasi_identifiers)),
                EFFECTIVE: float(run.diagnostics["effective_share"]["max"]),
                ALIKE: float(run.diagnostics["rows_left_unchanged"]),
            }
        return figures


def method_of(name: str, delta: str, l: int) -> Method:  # noqa: E741
    """A method by its name in the figures.

    >>> method_of("mutual cover", "1/6", 10).unchanged, method_of("mutual cover (drawn again)", "1/6", 10).unchanged
    ('paper', 'resample')
    """
    if name == MONDRIAN:
        return Mondrian(k=l, l=l, cut="median")
    if name == ANATOMY:
        return Anatomy(l=l)
    return MutualCover(delta=delta, l=l, unchanged=COVERS[name])  # type: ignore[arg-type]


def _above_delta(run: Run, n_attributes: int) -> float:
    """Of the tables with more than one output value, the share in which somebody has more than delta after all."""
    frame = run.frames["output_tables"]
    attribute, output = (written(frame.column(name)) for name in ("attribute", "output"))
    table = attribute.codes * run.groups.count + frame.column("group").to_numpy()
    pairs = np.unique(table * len(output.labels) + output.codes)
    several = int((np.bincount(pairs // len(output.labels)) > 1).sum())
    above = float(run.diagnostics["effective_share"]["tables_above_delta"]) * run.groups.count * n_attributes
    return above / max(several, 1)
