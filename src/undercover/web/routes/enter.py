"""Coming in by a one-time address, a further one for another browser, and going away."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from undercover.web.access.asking import Form, Who, field, service_of
from undercover.web.access.sessions import DAYS, MINUTES
from undercover.web.looks import page, plain_page

router = APIRouter()
_ENTERING = 1 << 12  # bytes of a token or a passphrase


@router.get("/enter")
def enter(request: Request, used: bool = False) -> HTMLResponse:
    """How to come in, for whoever is not."""
    return plain_page(request, "enter.html.j2", 401, token="", used=used)


@router.post("/enter")
async def say(request: Request) -> Response:
    """The token with the passphrase, where one is asked for."""
    async with request.form(max_files=0, max_fields=9, max_part_size=_ENTERING) as form:
        said = field(form, "passphrase") if "passphrase" in form else None
        return came(request, field(form, "token"), said, switch=field(form, "switch") == "yes")


def came(request: Request, token: str, said: str | None = None, *, switch: bool = False) -> Response:
    """Let somebody in by a token, which is gone from the address that the browser keeps.

    Whoever is signed in elsewhere on this server is asked first: a link must not put them, unnoticed, into a workspace
    whose owner then sees what they upload.
    """
    service = service_of(request)
    session, owner = service.session(request), service.sessions.owner(token)
    if session is not None and owner not in (None, session.desk) and not switch:
        names = {"own": service.settings.user(session.desk), "other": service.settings.user(str(owner))}
        return plain_page(request, "switch.html.j2", 409, token=token, **names)
    desk = service.sessions.taken(token, said, service.settings.passphrase)
    if desk is None and service.sessions.waits(token):
        if said is not None:
            service.audit.record("sign-in refused", service.settings.user(str(owner)))
        return plain_page(request, "enter.html.j2", 401, token=token, wrong=said is not None, switch=switch)
    if desk is None:
        return RedirectResponse("/" if session else "/enter?used=true", 303)
    service.audit.record("sign-in", service.settings.user(desk))
    answer = RedirectResponse("/", 303)
    answer.set_cookie(
        service.cookie,
        service.sessions.cookie(desk),
        max_age=DAYS * 86400,
        httponly=True,
        samesite="strict",
        secure=service.settings.is_encrypted,
    )
    return answer


@router.post("/link")
def link(asked: Who, form: Form) -> HTMLResponse:
    """A one-time address of the same desk, for another browser."""
    token = asked.service.sessions.token(asked.session.desk, MINUTES * 60)
    here = f"{asked.request.url.scheme}://{asked.request.headers['host']}"
    address = f"{asked.service.settings.behind_proxy or here}/?token={token}"
    return page(asked, "link.html.j2", address=address, minutes=MINUTES)


@router.post("/leave")
def leave(asked: Who, form: Form) -> Response:
    """Sign out."""
    asked.service.sessions.leave(asked.session)
    asked.record("sign-out")
    answer = RedirectResponse("/enter", 303)
    answer.delete_cookie(
        asked.service.cookie, httponly=True, samesite="strict", secure=asked.service.settings.is_encrypted
    )
    return answer
