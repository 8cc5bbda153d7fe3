"""Report: verify, attack and measure a run, as one mapping and as one page."""

from __future__ import annotations

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

MOST_ROWS_ATTACKED_TWICE = 200_000  # beyond, the report leaves the slower attacks to the attack command
QUERIES = 1000  # of each set of columns, and sums of each column; a quarter of them where there are more rows than that


def summarize(run: Run, *, progress: Progress = no_progress) -> dict[str, Any]:
    """Verify, attack and measure a run: everything its report says, as one private mapping.

    What was verified when the run was made is not verified again.
    """
    from undercover.pages.summary import summarize as summarize_run

    verification = run.verification
    if verification is None:
        progress("verifying", 0.0)
        verification = verify_private(verify_release(run.release), run)
    measures = None
    if run.original is not None:
        progress("attacking and measuring", 0.0)
        queries = QUERIES if len(run.rows) <= MOST_ROWS_ATTACKED_TWICE else QUERIES // 4
        case = Case.of(run)
        with ThreadPoolExecutor(1) as beside:
            counts, sums = about_each(run.release, queries), sums_of_each(case.original, run.release, queries)
            measured = beside.submit(measure, case, query_error=counts, sum_error=sums)
            run.verdict  # noqa: B018  (attacks, and judges what they found)
            measures = measured.result()
    return summarize_run(run, verification=verification, attacks=run.attacks, measures=measures)


def attacks_on(run: Run) -> tuple[Viewable, ...]:
    """What every attack of a report finds in a run; none where its original is not at hand."""
    return () if run.original is None else tuple(attacked(Case.of(run)))


def attacked(case: Case) -> list[Viewable]:
    """What every attack of a report found, in the order of the plug-ins.

    Where cells do not cover the truth, matching on everything is not the best choice, so the attacker who matches on a
    part of the columns stands in for the one who knows a part of them. Where values are known by bucket only, whoever
    weighs them shows how belief is spread over people.
    """
    from undercover.verbs.attack import attacks_of

    few = case.original.n_rows <= MOST_ROWS_ATTACKED_TWICE
    matching = few and not case.reading.covers and len(case.original.schema.quasi_identifiers) <= MOST_COLUMNS
    found: list[Viewable] = []
    for attacker in attacks_of(case):
        if attacker.slow and not few:
            continue
        if isinstance(attacker, PartialKnowledge) and matching:
            found.append(replace(Linkage(p_match=0.7).run(case), attack="p-match"))
        else:
            found.append(attacker.run(case))
    weighing = BucketMatching()
    if few and case.reading.buckets is not None and weighing.applies(case) is None:
        found.append(weighing.run(case))
    return found


def report(run: Run, path: str | os.PathLike[str]) -> Path:
    """Write the holder's report of a run: one self-contained HTML page, private."""
    from undercover.pages.render import report_html

    place = Path(path)
    place.write_text(report_html(summarize(run)), encoding="utf-8")
    return place
