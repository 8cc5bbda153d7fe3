"""Smuggled content: what somebody may hide in the files of a public folder beside the cells of its tables."""

from __future__ import annotations

from tampering import Tampering

FILES: list[Tampering] = []
