"""The catalogue: every word of the web application, by language; one file a page in ``en`` and ``de``.

A text is found by ``page.name``. What stands in braces is filled in; a table with ``one`` and ``other`` is chosen by
``n``. What is in backticks is shown as code. Sentences of the library itself (verdicts, reasons, promises, problems)
are not here: they are the same on the terminal, and are marked as English on pages of another language.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final

from undercover.errors import InternalError
from undercover.model.figures import number

LANGUAGES: Final[Mapping[str, str]] = {"en": "English", "de": "Deutsch"}
"""By their codes, as their speakers call them."""


class Texts:
    """The texts of a language.

    >>> Texts("en")("home.tables", n=1), Texts("de")("home.tables", n=2)
    ('1 table', '2 Tabellen')
    """

    def __init__(self, language: str) -> None:
        self.language = language
        self._texts = catalogue(language)

    def __call__(self, key: str, **values: Any) -> str:
        """A text with its values filled in; whole numbers are written as people read them."""
        found = self._texts.get(key)
        if found is None:
            found = self._texts.get(f"{key}.{'one' if values.get('n') == 1 else 'other'}")
        if found is None:
            raise InternalError(f"There is no text `{key}` in the catalogue of `{self.language}`.")
        return found.format(**{name: self._shown(value) for name, value in values.items()})

    def __contains__(self, key: str) -> bool:
        return key in self._texts

    def _shown(self, value: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, int):
            return value
        written = number(value)
        return written.replace(",", ".") if self.language == "de" else written


@cache
def catalogue(language: str) -> Mapping[str, str]:
    """All texts of a language by ``page.name``."""
    found: dict[str, str] = {}
    for file in sorted(files(__name__).joinpath(language).iterdir(), key=lambda place: place.name):
        page = file.name.removesuffix(".toml")
        for key, text in _flat(tomllib.loads(file.read_text("utf-8"))):
            found[f"{page}.{key}"] = text
    return found


def _flat(content: Mapping[str, Any], before: str = "") -> list[tuple[str, str]]:
    return [
        pair
        for key, value in content.items()
        for pair in (_flat(value, f"{before}{key}.") if isinstance(value, dict) else [(before + key, str(value))])
    ]


def chosen(wanted: str | None, accepted: str) -> str:
    """A language: the one that was chosen, or the first that a browser asks for.

    >>> chosen(None, "de-AT,de;q=0.9,en;q=0.8"), chosen("en", "de"), chosen("xx", "")
    ('de', 'en', 'en')
    """
    if wanted in LANGUAGES:
        return str(wanted)
    asked = (part.split(";")[0].strip().split("-")[0].lower() for part in accepted.split(","))
    return next((language for language in asked if language in LANGUAGES), "en")
