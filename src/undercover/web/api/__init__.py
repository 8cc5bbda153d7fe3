"""The JSON interface: the same steps, for programs; described by ``/api/openapi.json``."""

from __future__ import annotations

from importlib import import_module

from fastapi import APIRouter

_PARTS = ("session", "tables", "reading", "columns", "protect", "jobs", "releases", "ask")


def routers() -> list[APIRouter]:
    """The routes of every part."""
    parts = [import_module(f"{__name__}.{name}") for name in _PARTS]
    return [one for part in parts for one in vars(part).values() if isinstance(one, APIRouter)]
