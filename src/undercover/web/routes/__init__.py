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
_FIRST = ("home", "enter")


def routers(*, first: bool | None = None) -> list[APIRouter]:
    """The routes of every page; those of the ``first`` page, or of all others."""
    wanted = [name for name in _PAGES if first is None or (name in _FIRST) == first]
    return [import_module(f"{__name__}.{name}").router for name in wanted]
