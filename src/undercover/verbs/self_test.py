"""The self-test: what a method made, held against the table it was made of and against the law it was drawn by.

A promise is verified from the published tables alone, and a table that was published as it is can keep one. So before
anything is returned, every published row is compared with the input rows it was made of, and everything that was said
to be drawn at random is tested to be (:mod:`undercover.forms.chance`). What fails is a bug of ours or of a plug-in:
nothing is returned, and nothing written.

It draws nothing: a seeded run publishes the same bytes with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercover.errors import NotTold, SelfTestError
from undercover.forms import read
from undercover.forms.chance import MOST_ITEMS, REFUSED_BELOW, Check, check_order, segments_of
from undercover.forms.own_rows import Made
from undercover.model.finding import Finding
from undercover.model.run import Draft, Run, Shuffle
from undercover.model.table import Table

NO_LAW = (
    "What was drawn was not tested: the form declares no law of its randomness, or the run does not say which "
    "published row was made of which input rows."
)
NOT_COMPARED = "The published rows were not compared with the input: {why}"


@dataclass(frozen=True)
class SelfTest:
    """What was compared and tested, and what could not be."""

    compared: tuple[Finding, ...]
    checks: tuple[Check, ...]
    untested: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON; private."""
        return {
            "refused_below": REFUSED_BELOW,
            "compared": [finding.manifest_entry() for finding in self.compared],
            "checks": [check.to_dict() for check in self.checks],
            "untested": list(self.untested),
        }

    def require(self) -> None:
        """Raise where a comparison fails, or something was drawn that its law cannot have made."""
        wrong = [f"{found!r}. {found.note}".rstrip() for found in self.compared if found.holds is False]
        drawn = [check.sentence() for check in self.checks if check.is_refused]
        if wrong or drawn:
            raise SelfTestError(wrong, drawn)


def check_draft(table: Table, run: Run, draft: Draft) -> SelfTest:
    """Test what a method made of ``table`` before anybody sees it; raises where it cannot be what it is said to be."""
    reading = read(run.release)
    original = run.original if run.original is not None else table
    made = Made(original, run, draft.kept, draft.row_of_group)
    untested = []
    try:
        compared = reading.compare_rows(made)
    except NotTold as error:
        compared = ()
        untested.append(NOT_COMPARED.format(why=str(error)))
    found = SelfTest(compared, (), tuple(untested))
    found.require()  # a law is tested on rows that are in their places
    law = reading.test_law(made)
    if law is None:
        untested.append(NO_LAW)
    done = SelfTest(compared, (*(law or ()), *_test_shuffles(draft.shuffles)), tuple(untested))
    done.require()
    return done


def _test_shuffles(shuffles: Sequence[Shuffle]) -> Iterator[Check]:
    """One check for every kind of shuffle; several of a kind, one for each part or round, are tested together."""
    by_name: dict[str, list[Shuffle]] = {}
    for shuffle in shuffles:
        by_name.setdefault(shuffle.name, []).append(shuffle)
    for name, same in by_name.items():
        outcomes, ends = zip(*(_in_segments(shuffle, MOST_ITEMS // len(same)) for shuffle in same), strict=True)
        begins = np.cumsum([0, *(len(outcome) for outcome in outcomes)])
        offsets = [end[1:] + begin for end, begin in zip(ends, begins, strict=False)]
        yield check_order(name, np.concatenate(outcomes), np.concatenate([[0], *offsets]))


def _in_segments(shuffle: Shuffle, most: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """The outcomes of the first items, segment by segment, and where each segment starts."""
    outcome = shuffle.outcome[:most]
    order, offsets = segments_of(None if shuffle.within is None else shuffle.within[:most], len(outcome))
    return outcome[order], offsets
