"""Verify: recompute every claim of a release."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from undercover.forms import read
from undercover.guarantees.checking import Checkable
from undercover.guarantees.verify import Verification, verify_private
from undercover.guarantees.verify import verify as verify_release
from undercover.io.release import folder
from undercover.io.release.manifest import load_release
from undercover.model.release import Release
from undercover.model.run import Run
from undercover.model.schema import Schema
from undercover.verbs.store import original_of, table_of


def verify(
    target: Release | Run | str | os.PathLike[str],
    *,
    also: Sequence[Checkable] = (),
    original: Any = None,
    schema: Schema | None = None,
) -> Verification:
    """Recompute every claim of a release from its published tables alone.

    Parameters
    ----------
    target
        A release, a run, a folder ``DIR/public``, or a folder ``DIR`` with both parts.
    also
        Further guarantees to check.
    original, schema
        With the original table: also whether every row is covered and nothing was invented.

    Examples
    --------
    >>> import undercover as uc
    >>> schema = uc.Schema(quasi_identifiers=["age"], sensitive="income")
    >>> run = uc.publish(uc.datasets.census(1000), schema, uc.Mondrian(k=10))
    >>> uc.verify(run.release).holds
    True
    """
    problems: list[str] = []
    run = target if isinstance(target, Run) else None
    if isinstance(target, str | os.PathLike):
        place = Path(target)
        if (place / "private").is_dir():
            run = folder.load_run(place)
        release, problems = load_release(place / "public" if (place / "public").is_dir() else place)
    else:
        release = target.release if isinstance(target, Run) else target
    verification = verify_release(release, also=also, problems=problems)
    if run is not None:
        verification = verify_private(verification, replace(run, release=release))
    if original is None:
        return verification
    if run is not None and schema is None:
        return verification.extended(read(release).against(original_of(run, original)))
    return verification.extended(read(release).against(table_of(original, schema, release)))
