"""What published tables stand for: a release, read by its form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from undercover import plugins
from undercover.errors import UnknownFormError

if TYPE_CHECKING:
    from undercover.forms.classes import Classes
    from undercover.forms.reading import Reading
    from undercover.model.release import Release


def read(release: Release) -> Reading:
    """The reading of a release by its form; kept with the release, so that nothing is read twice.

    A form that nobody here can read is refused, never misread.

    >>> from undercover.model.form import Drawn
    >>> from undercover.model.release import Release
    >>> read(Release("mondrian", {}, (), True)).covers, read(Release("any", {}, (), True, form=Drawn())).covers
    (True, False)
    """
    kept: Reading | None = release.__dict__.get("_reading")
    if kept is None:
        name = release.form.name
        if name not in plugins.names("forms"):
            raise UnknownFormError(name, plugins.names("forms"))
        kept = plugins.load("forms", name).reading(release)
        release.__dict__["_reading"] = kept
    return kept


def classes_of(release: Release) -> Classes:
    """The rows of a release that nobody can tell apart, from its published tables alone."""
    return read(release).classes
