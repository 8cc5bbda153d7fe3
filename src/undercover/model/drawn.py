"""Releases in the table's old shape whose quasi-identifiers were drawn at random, row by row.

A published row is then somebody's, though not with his values; which row is whose stays in the private run. Everybody
who reads such a release (attacks, measures, verification against the original) asks here.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from undercover.errors import DataError, ParameterError
from undercover.model.channel import Channel
from undercover.model.form import Drawn, Perturbed
from undercover.model.release import Release
from undercover.model.run import Run

FRAME = "published_rows"


def is_drawn(release: Release) -> bool:
    """Whether the quasi-identifiers of a release were drawn at random.

    >>> is_drawn(Release("mondrian", {}, (), True)), is_drawn(Release("mutual-cover", {}, (), False, form=Drawn()))
    (False, True)
    """
    return isinstance(release.form, Drawn)


def own_rows(run: Run) -> NDArray[np.int64] | None:
    """(n_rows,) the published row of each grouped row; ``None`` for a release in which nothing was drawn."""
    if not is_drawn(run.release):
        return None
    frame = run.frames.get(FRAME)
    if frame is None:
        return own_rows_of_release(run.release)
    rows, published = (np.asarray(frame.column(name).to_numpy(), dtype=np.int64) for name in ("row", "published"))
    n_rows = run.release.published().rows
    if not np.array_equal(rows, run.rows) or not np.array_equal(np.sort(published), np.arange(n_rows)):
        raise DataError(f"The private `{FRAME}` does not give every input row a published row of its own.")
    return published


def own_rows_of_release(release: Release) -> NDArray[np.int64] | None:
    """The same where the release alone shows it, because it keeps the order of the input.

    >>> own_rows_of_release(Release("mutual-cover", {}, (), False, form=Drawn())) is None
    True
    """
    if not isinstance(release.form, Drawn) or release.form.order != "input":
        return None
    return np.arange(release.published().rows)


def is_perturbed(release: Release) -> bool:
    """Whether the sensitive values of a release were drawn at random, one per cell."""
    return isinstance(release.form, Perturbed)


def channel_of(release: Release) -> Channel:
    """The channel the sensitive values of a release went through."""
    if not isinstance(release.form, Perturbed):
        raise ParameterError(f"The values of this release by {release.method} did not go through a public channel.")
    return release.form.channel
