"""Every route of the pages and of the JSON interface, and what it depends on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from fastapi.routing import APIRoute

from undercover.web.api import routers as api_routers
from undercover.web.routes import routers as page_routers

Route = tuple[str, str, set[Callable[..., Any]]]  # method, path, what it depends on


def page_routes() -> list[Route]:
    return list(_walked("", page_routers()))


def api_routes() -> list[Route]:
    return list(_walked("/api", api_routers()))


def _walked(prefix: str, routers: Any) -> Iterator[Route]:
    for router in routers:
        for route in router.routes:
            assert isinstance(route, APIRoute), f"Nobody looks at {route}."
            for method in sorted(route.methods):
                yield method, prefix + route.path, set(_needed(route.dependant))


def _needed(dependant: Any) -> Iterator[Callable[..., Any]]:
    yield dependant.call
    for inner in dependant.dependencies:
        yield from _needed(inner)
