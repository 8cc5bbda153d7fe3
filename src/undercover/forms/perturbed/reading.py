"""Transitional."""

from __future__ import annotations

from undercover.forms.reading import FormPlugin, Reading
from undercover.model.form import Perturbed

PLUGIN = FormPlugin(form=Perturbed, reading=Reading)
