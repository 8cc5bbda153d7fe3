"""Tampered claims: contradictions, downgrades and impossible counts in ``release.json``, all hashed anew."""

from __future__ import annotations

from tampering import Tampering

CLAIMS: list[Tampering] = []
