"""The JSON interface: the same steps, for programs; described by ``/api/openapi.json``."""

from __future__ import annotations

from importlib import import_module

from fastapi import APIRouter

_PARTS = ("tables",)


def routers() -> list[APIRouter]:
    """The routes of every part."""
    return [import_module(f"{__name__}.{name}").router for name in _PARTS]
