"""One table of covering cells with true values, one person a row: what the base reads."""

from __future__ import annotations

from undercover.forms.generalized import words
from undercover.forms.reading import FormPlugin, Reading
from undercover.forms.snippets import Snippet
from undercover.model.form import Generalized
from undercover.model.release import Release


class GeneralizedReading(Reading):
    """Nothing is different from the base; what it adds is worked code."""

    def __init__(self, release: Release) -> None:
        assert isinstance(release.form, Generalized)
        super().__init__(release)
        self.form = release.form

    def snippets(self, file_format: str) -> list[Snippet]:
        """Worked code for one generalised table."""
        return words.snippets(self, file_format)


PLUGIN = FormPlugin(form=Generalized, reading=GeneralizedReading)
