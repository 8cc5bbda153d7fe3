"""Transitional."""

from __future__ import annotations

from undercover.forms.reading import FormPlugin, Reading
from undercover.model.form import Generalized

PLUGIN = FormPlugin(form=Generalized, reading=Reading)
