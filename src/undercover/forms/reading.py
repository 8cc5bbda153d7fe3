"""Transitional."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from undercover.model.release import Release


@dataclass(frozen=True)
class Reading:
    """A release, read."""

    release: Release


@dataclass(frozen=True)
class FormPlugin:
    """A form and how it is read."""

    form: type[Any]
    reading: type[Reading]
