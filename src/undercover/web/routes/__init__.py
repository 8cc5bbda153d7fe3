"""The pages: one file a step."""

from __future__ import annotations

from importlib import import_module

from fastapi import APIRouter

_PAGES = (
    "home",
    "enter",
    "data",
    "columns",
    "hierarchies",
    "protect",
    "recommend",
    "method",
    "run",
    "downloads",
    "deciding",
    "result",
    "ask",
    "interface",
)


def routers() -> list[APIRouter]:
    """The routes of every page."""
    return [import_module(f"{__name__}.{name}").router for name in _PAGES]
