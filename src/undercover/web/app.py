"""The application: routes, what guards them, and what becomes of errors."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import files
from threading import Thread
from typing import Any, Final
from urllib.parse import urlsplit

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.staticfiles import StaticFiles

from undercover.errors import UndercoverError
from undercover.version import VERSION
from undercover.web.access.asking import Asking, Forged, NotIn, Service, service_of, texts_of
from undercover.web.access.audit_log import AuditLog, beside
from undercover.web.access.headers import HEADERS, SAFE, Guarded
from undercover.web.access.sessions import Hasty, Sessions
from undercover.web.desks.clearing import clear
from undercover.web.desks.desk import Missing
from undercover.web.desks.project import Changed
from undercover.web.desks.store import NO_DISK, is_disk, private_folder
from undercover.web.jobs.queue import Full, Queue
from undercover.web.later import Later, Loading
from undercover.web.looks import is_part, page, plain_page, prepare
from undercover.web.routes import routers as page_routers
from undercover.web.settings import Settings

API: Final = "/api"
_CODES: Final[dict[type[Exception], int]] = {Missing: 404, Changed: 409, NotIn: 401, Forged: 403, Hasty: 429, Full: 429}


def create_app(settings: Settings, *, later: bool = False) -> FastAPI:
    """The whole application; ``app.state.service`` has what it consists of.

    With ``later``, all routes but those of the first page are loaded when it has begun.
    """
    private_folder(settings.workspace)
    queue = Queue(settings.workspace, settings.workers)
    loading = Loading(lambda: _load(app, prepared=later))

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        queue.hold()
        clear(settings.workspace)
        queue.start()
        if later:
            loading.begin()
        yield
        queue.stop()
        clear(settings.workspace)

    app = FastAPI(
        title="undercover",
        version=VERSION,
        lifespan=life,
        openapi_url=f"{API}/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    audit = AuditLog(settings.audit_log or beside(settings.workspace))
    audit.check()
    service = Service(settings, Sessions(settings.workspace), queue, audit)
    app.state.service = service
    known = lambda connection: service.session(connection) is not None  # noqa: E731
    if later:
        app.add_middleware(Later, loading=loading)
    origins = () if settings.behind_proxy is None else (settings.behind_proxy,)
    app.add_middleware(Guarded, hosts=settings.hosts, most_bytes=settings.most_bytes, known=known, origins=origins)
    app.mount("/static", StaticFiles(directory=str(files("undercover.web").joinpath("static"))), name="static")
    for router in page_routers(first=True):
        app.include_router(router, include_in_schema=False)
    if not later:
        _load(app, prepared=False)
    for kind in (UndercoverError, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(kind, _explained)
    app.add_exception_handler(OSError, _of_the_disk)
    return app


def _load(app: FastAPI, *, prepared: bool) -> None:
    """All routes but those of the first page; whatever else pages need is then ``prepared`` while nobody waits."""
    from undercover.web.api import routers as api_routers

    for router in page_routers(first=False):
        app.include_router(router, include_in_schema=False)
    for router in api_routers():
        app.include_router(router, prefix=API)
    if prepared:
        Thread(target=prepare, daemon=True, name="preparing").start()


async def _of_the_disk(request: Request, error: Exception) -> Response:
    """A disk that takes nothing is no bug; whatever else goes wrong with files is."""
    if not is_disk(error):
        raise error
    return await _explained(request, error)


async def _explained(request: Request, error: Exception) -> Response:
    """What went wrong, as a page or as JSON; of a bug of ours no detail, which could hold a value of a table."""
    status, problems = _told(error)
    answer = _answer(request, error, status, problems)
    for name, value in {**HEADERS, **(getattr(error, "headers", None) or {})}.items():
        answer.headers.setdefault(name, value)  # a bug is answered where nothing is guarded any more
    return answer


def _answer(request: Request, error: Exception, status: int, problems: list[str]) -> Response:
    if request.url.path.startswith(f"{API}/"):
        return JSONResponse({"problems": problems}, status)
    if isinstance(error, NotIn) and request.scope["method"] in SAFE and not is_part(request):
        return RedirectResponse("/enter", 303)
    language = "en"  # of sentences of the library
    if status == 500 or not isinstance(error, UndercoverError):
        texts = texts_of(request)
        key = f"problem.{status}"
        problems, language = [texts(key if key in texts else "problem.400")], texts.language
    about: dict[str, Any] = {
        "problems": problems,
        "part": is_part(request),
        "spoken": language,
        "before": _before(request),
    }
    session = service_of(request).session(request)
    if session is None:
        return plain_page(request, "problem.html.j2", status, **about)
    return page(Asking(request, service_of(request), session), "problem.html.j2", status=status, **about)


def _before(request: Request) -> str | None:
    """The page of this server that somebody came from."""
    came = urlsplit(request.headers.get("referer", ""))
    proxied = urlsplit(service_of(request).settings.behind_proxy or "").netloc
    here = came.netloc and came.netloc in (request.headers.get("host"), proxied)
    ours = here and came.path.startswith("/") and not came.path.startswith("//")
    return came.path if ours else None


def _told(error: Exception) -> tuple[int, list[str]]:
    if is_disk(error) or is_disk(error.__cause__):  # the latter: while what was sent was put into a temporary file
        return 507, [NO_DISK]
    if isinstance(error, UndercoverError):
        status = next((code for kind, code in _CODES.items() if isinstance(error, kind)), 400)
        return status, list(getattr(error, "problems", None) or [str(error)])
    if isinstance(error, HTTPException):
        return error.status_code, [str(error.detail)]
    if isinstance(error, RequestValidationError):
        return 422, [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()]
    return 500, ["This is a bug of undercover, not of your data."]
