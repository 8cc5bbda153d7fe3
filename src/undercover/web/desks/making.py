"""A release counts from the moment on at which its job is done with it.

Until then a hidden mark lies beside its folder; a release that bears one when its job has ended is not whole, and is
removed, for the job is begun again or failed.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def mark(release: Path) -> Path:
    """What lies beside the folder of a release as long as its job is not done with it."""
    return release.with_name(f".{release.name}.made")


@contextmanager
def whole(release: Path) -> Iterator[None]:
    """Make a release inside; it is there when all of it is done, or not at all.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with whole(Path(folder) / "1"):
    ...         (Path(folder) / "1").mkdir()
    ...     [place.name for place in Path(folder).iterdir()]
    ['1']
    """
    mark(release).touch()
    try:
        yield
    except BaseException:
        unmake(release.parent)
        raise
    mark(release).unlink()


def unmake(releases: Path) -> None:
    """Remove what is not whole, and whatever else of it is hidden."""
    if not releases.is_dir():
        return
    for place in [*releases.iterdir()]:
        if mark(place).exists() or (place.name.startswith(".") and place.is_dir()):
            shutil.rmtree(place)
    for place in releases.glob(".*"):
        place.unlink()
