"""Report: verify, attack and measure a run, as one mapping and as one page."""

from __future__ import annotations

import math
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from undercover.attacks.bucket_matching import BucketMatching
from undercover.attacks.linkage import Linkage
from undercover.attacks.partial.attack import PartialKnowledge
from undercover.attacks.partial.profile import MOST_COLUMNS
from undercover.forms.case import Case
from undercover.guarantees.verify import verify as verify_release
from undercover.guarantees.verify import verify_private
from undercover.model.protocols import Progress, no_progress
from undercover.model.run import Run
from undercover.model.view import Viewable
from undercover.utility.measures import measure
from undercover.utility.queries.counts import about_each
from undercover.utility.queries.sums import sums_of_each
from undercover.waiting import teller, telling, through
from undercover.whole import write_whole

MOST_ROWS_ATTACKED_TWICE = 200_000  # beyond, the report leaves the slower attacks to the attack command
DRAWING = "drawing the report"
QUERIES = ((MOST_ROWS_ATTACKED_TWICE, 1000), (5_000_000, 250), (math.inf, 100))
"""Up to how many rows so many queries of each set of columns are asked, and sums of each column."""


def summarize(run: Run, *, progress: Progress = no_progress) -> dict[str, Any]:
    """Verify, attack and measure a run: everything its report says, as one private mapping.

    What was verified when the run was made is not verified again.
    """
    from undercover.pages.summary import summarize as summarize_run

    verification = run.verification
    if verification is None:
        progress("verifying", 0.0)
        verification = verify_private(verify_release(run.release, progress=progress), run)
    measures = None
    if run.original is not None:
        queries = next(queries for most, queries in QUERIES if len(run.rows) <= most)
        case = Case.of(run)
        with ThreadPoolExecutor(1) as beside:
            counts, sums = about_each(run.release, queries), sums_of_each(case.original, run.release, queries)
            told = progress if run.attacked else no_progress  # one of two that run side by side
            measured = beside.submit(measure, case, query_error=counts, sum_error=sums, progress=told)
            run.judge(progress)
            progress("measuring", 0.0)
            measures = measured.result()
    progress("summing up", 0.0)
    return summarize_run(run, verification=verification, attacks=run.attacks, measures=measures)


def attacks_on(run: Run, progress: Progress = no_progress) -> tuple[Viewable, ...]:
    """What every attack of a report finds in a run; none where its original is not at hand."""
    return () if run.original is None else tuple(attacked(Case.of(run), progress))


def attacked(case: Case, progress: Progress = no_progress) -> list[Viewable]:
    """What every attack of a report found, in the order of the plug-ins.

    Where cells do not cover the truth, matching on everything is not the best choice, so the attacker who matches on a
    part of the columns stands in for the one who knows a part of them. Where values are known by bucket only, whoever
    weighs them shows how belief is spread over people.
    """
    from undercover.verbs.attack import attacks_of

    few = case.original.n_rows <= MOST_ROWS_ATTACKED_TWICE
    matching = few and not case.reading.covers and len(case.original.schema.quasi_identifiers) <= MOST_COLUMNS
    found: list[Viewable] = []
    made = [attacker for attacker in attacks_of(case) if few or not attacker.slow]
    for attacker in through(progress, "attacking", made, lambda each: str(each.name)):
        if isinstance(attacker, PartialKnowledge) and matching:
            who = "an attacker who matches on some of the values"
            found.append(replace(Linkage(p_match=0.7).run(case), attack="p-match", who=who, shows_parts=True))
        else:
            found.append(attacker.run(case))
    weighing = BucketMatching()
    if few and case.reading.buckets is not None and weighing.applies(case) is None:
        found.append(weighing.run(case))
    return found


@telling
def report(run: Run, path: str | os.PathLike[str], *, progress: Progress | bool = False) -> Path:
    """Write the holder's report of a run: one self-contained HTML page, private.

    ``progress=True`` shows how far it is on stderr.

    >>> import tempfile, undercover as uc
    >>> example = uc.datasets.hospital("cross-bucket")
    >>> run = uc.publish(example.table, example.schema, uc.Anatomy(l=4), policy="none")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     "Anatomy" in report(run, Path(folder, "report.html")).read_text("utf-8")
    True
    """
    from undercover.pages.chart_process import start_drawing
    from undercover.pages.render import report_html

    place = Path(path)
    start_drawing()
    facts = summarize(run, progress=teller(progress))
    teller(progress)(DRAWING, 0.0)
    write_whole(place, report_html(facts), private=True)
    return place
