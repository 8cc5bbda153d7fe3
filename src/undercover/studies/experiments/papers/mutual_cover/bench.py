"""What the mutual cover experiment measures of one release: disclosure, information loss, error of sums."""

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
from undercover.verbs.publish import publish_table

COVER, RESAMPLED, ALONE = "mutual cover", "mutual cover (drawn again)", "mutual cover (tables alone)"
LAYERS, BLOCKS, GROUPS = "mutual cover, layers", "mutual cover, blocks", "mutual cover, groups"
MONDRIAN, ANATOMY = "mondrian", "anatomy"
COVERS = {COVER: "paper", RESAMPLED: "resample", ALONE: "off"}  # what becomes of unchanged rows
SAFE = (LAYERS, BLOCKS, GROUPS)  # ours, which tell nothing to whoever knows the algorithm

ILOSS, ILOSS_CELL, ILOSS_CELLS = "ILoss", "ILoss per cell", "ILoss of cells"
ERROR, MEDIAN, ESTIMATE = "SUM error", "median SUM error", "SUM estimate error"
KNOWS_ROW, KNOWS_VALUE, IN_GROUP = "informed identity", "informed attribute", "guessing in the group"
ABOVE_DELTA, EFFECTIVE, ALIKE = "tables above delta", "largest effective share", "rows left unchanged"


def identity_at(p: float) -> str:
    """The name of a figure."""
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
        found = profile(
            case.reading, table, table.schema.quasi_identifiers, own=case.own, dealt=case.dealt, threads=case.threads
        )
        (sensitive,) = table.schema.sensitive
        figures: dict[str, float] = {}
        for p in PAPERS:
            means = found.means(p)
            figures[identity_at(p)] = means["identity"]["mean"]
            figures[attribute_at(p)] = means["attribute"][sensitive]["mean"]
        figures |= self._costs(case, method, seed)
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

    def costs(self, method: str, delta: str, l: int, seed: int) -> dict[str, float]:  # noqa: E741
        """The same without the attacks."""
        run = publish_table(self.table, method_of(method, delta, l), randomness=Randomness(seed))
        return self._costs(Case.of(run), method, seed)

    def _costs(self, case: Case, method: str, seed: int) -> dict[str, float]:
        """ILoss against the person whose sensitive value a row carries; of layers also against whose place it is."""
        table, figures = self.table, dict[str, float]()
        if method != ANATOMY:
            figures[ILOSS] = papers_iloss(table, case.reading, case.own)
            figures[ILOSS_CELL] = figures[ILOSS] / table.n_rows / len(table.schema.quasi_identifiers)
        if method in SAFE and case.run is not None:
            places = case.run.frames["published_rows"].column("cells").to_numpy()
            figures[ILOSS_CELLS] = papers_iloss(table, case.reading, np.asarray(places, dtype=np.int64))
        errors = self.sum_error(case.release, seed)
        if errors is not None:
            estimate = errors.to_dict()["estimate"]["median"]
            figures |= {ERROR: errors.mean, MEDIAN: errors.median, ESTIMATE: estimate}
        return figures


def method_of(name: str, delta: str, l: int) -> Method:  # noqa: E741
    """A method by its name in the figures."""
    if name == MONDRIAN:
        return Mondrian(k=l, l=l, cut="median")
    if name == ANATOMY:
        return Anatomy(l=l)
    if name == BLOCKS:
        return MutualCover(delta=delta, variant="blocks")
    if name == GROUPS:
        return MutualCover(l=l, variant="groups")
    if name == LAYERS:
        return MutualCover(delta=delta, l=l, variant="layers")
    return MutualCover(delta=delta, l=l, variant="paper", unchanged=COVERS[name])  # type: ignore[arg-type]


def _above_delta(run: Run, n_attributes: int) -> float:
    """Of the tables with more than one output value, the share in which somebody has more than delta after all."""
    frame = run.frames["output_tables"]
    attribute, output = (written(frame.column(name)) for name in ("attribute", "output"))
    table = attribute.codes.astype(np.int64) * run.groups.count + frame.column("group").to_numpy()
    pairs = np.unique(table * len(output.labels) + output.codes)
    several = int((np.bincount(pairs // len(output.labels)) > 1).sum())
    above = float(run.diagnostics["effective_share"]["tables_above_delta"]) * run.groups.count * n_attributes
    return above / max(several, 1)
