"""What the cross-bucket experiment measures of one release: breach, identity, discernibility and SUM error."""

from __future__ import annotations

import numpy as np

from undercover.attacks.bucket_matching import BucketMatching
from undercover.errors import InternalError
from undercover.forms.case import Case
from undercover.methods.anatomy.method import Anatomy
from undercover.methods.cross_bucket.method import CrossBucket
from undercover.methods.mondrian.method import Mondrian
from undercover.model.protocols import Method
from undercover.randomness import Randomness
from undercover.studies.experiments.bench import TableBench
from undercover.utility.queries.sums import SumError
from undercover.verbs.publish import publish_table

MONDRIAN, MONDRIAN_LOSS, ANATOMY, CROSS = "mondrian", "mondrian (loss)", "anatomy", "cross-bucket"
METHODS = (MONDRIAN, MONDRIAN_LOSS, ANATOMY, CROSS)

BREACH, WORST, IDENTITY, ABOVE = "breach", "worst breach", "worst identity", "breach above 0.01"
DM, ERROR, MEDIAN, HOLDS = "DM", "SUM error", "median SUM error", "promise holds"


class Bench(TableBench):
    """A table and what is measured on it."""

    def measure(self, method: str, k: int, l: int, seed: int) -> dict[str, float]:  # noqa: E741
        """Publish, verify, attack every row and ask for sums; the same queries for every release of a seed.

        DM is the sum of the squared sizes of the groups the method made. Anatomy makes none that are written alike.
        """
        table = self.table
        (sensitive,) = table.schema.sensitive
        run = publish_table(table, method_of(method, k, l), randomness=Randomness(seed))
        found = BucketMatching().run(Case.of(run))
        if (found.matches < 1).any():
            raise InternalError(f"A row of the table fits no row of the release by {method}.")
        breach = found.breach[sensitive]
        figures = {
            BREACH: float(breach.mean()),
            WORST: float(breach.max()),
            ABOVE: float((breach > 0.01).mean()),
            IDENTITY: 1.0 / int(found.matches.min()),
            HOLDS: float(run.verification.holds),
        }
        if method != ANATOMY:
            figures[DM] = int(np.dot(run.groups.sizes, run.groups.sizes))
        if table[sensitive].domain.kind == "numeric":
            errors = SumError(queries=self.queries, seed=seed).of_release(table, run.release)
            figures |= {ERROR: errors.mean, MEDIAN: errors.median}
        return figures


def method_of(name: str, k: int, l: int) -> Method:  # noqa: E741
    """A method by its name in the figures.

    >>> method_of("cross-bucket", 3, 10)
    CrossBucket(k=3, l=10, joined=False)
    >>> method_of("mondrian", 3, 10).cut
    'median'
    """
    if name == CROSS:
        return CrossBucket(k=k, l=l)
    if name == ANATOMY:
        return Anatomy(l=l)
    return Mondrian(k=k, l=l, cut="median" if name == MONDRIAN else "loss")
