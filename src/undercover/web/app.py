"""The application: routes, what guards them, and what becomes of errors."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.staticfiles import StaticFiles

from undercover.errors import UndercoverError
from undercover.version import VERSION
from undercover.web.access.asking import Forged, NotIn, Service, texts_of
from undercover.web.access.headers import SAFE, Guarded, TooLarge
from undercover.web.access.sessions import Sessions
from undercover.web.api import routers as api_routers
from undercover.web.desks.desk import Missing
from undercover.web.desks.project import Changed
from undercover.web.desks.store import private_folder
from undercover.web.jobs.queue import Full, Queue
from undercover.web.looks import is_part, plain_page
from undercover.web.routes import routers as page_routers
from undercover.web.settings import Settings

API: Final = "/api"
_CODES: Final[dict[type[Exception], int]] = {Missing: 404, Changed: 409, NotIn: 401, Forged: 403, TooLarge: 413, Full: 429}


def create_app(settings: Settings) -> FastAPI:
    """The whole application; ``app.state.service`` has what it consists of."""
    private_folder(settings.workspace)
    queue = Queue(settings.workspace, settings.workers)

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        queue.start()
        yield
        queue.stop()

    app = FastAPI(
        title="undercover",
        version=VERSION,
        lifespan=life,
        openapi_url=f"{API}/openapi.json",
        docs_url=None,
        redoc_url=None,
    )
    app.state.service = Service(settings, Sessions(settings.workspace), queue)
    hosts = tuple(dict.fromkeys([settings.host, *(["127.0.0.1", "localhost", "::1"] if settings.loopback else [])]))
    app.add_middleware(Guarded, hosts=hosts, most_bytes=settings.most_bytes)
    app.mount("/static", StaticFiles(directory=str(files("undercover.web").joinpath("static"))), name="static")
    for router in page_routers():
        app.include_router(router, include_in_schema=False)
    for router in api_routers():
        app.include_router(router, prefix=API)
    for kind in (UndercoverError, TooLarge, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(kind, _explained)
    return app


async def _explained(request: Request, error: Exception) -> Response:
    """What went wrong, as a page or as JSON; of a bug of ours no detail, which could hold a value of a table."""
    status, problems = _told(error)
    if request.url.path.startswith(f"{API}/"):
        return JSONResponse({"problems": problems}, status)
    if isinstance(error, NotIn) and request.scope["method"] in SAFE and not is_part(request):
        return RedirectResponse("/enter", 303)
    if status == 500 or not isinstance(error, UndercoverError):
        texts = texts_of(request)
        key = f"problem.{status}"
        problems = [texts(key if key in texts else "problem.400")]
    return plain_page(request, "problem.html.j2", status, problems=problems, part=is_part(request))


def _told(error: Exception) -> tuple[int, list[str]]:
    if isinstance(error, UndercoverError):
        status = next((code for kind, code in _CODES.items() if isinstance(error, kind)), 400)
        return (500 if error.exit_code == 1 else status), list(getattr(error, "problems", None) or [str(error)])
    if isinstance(error, TooLarge):
        return 413, ["That is too large."]
    if isinstance(error, HTTPException):
        return error.status_code, [str(error.detail)]
    if isinstance(error, RequestValidationError):
        return 422, [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()]
    return 500, ["This is a bug of undercover, not of your data."]


Handler = Callable[[Request, Exception], Any]
