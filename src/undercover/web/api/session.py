"""Come in with a one-time token, and go."""

from __future__ import annotations

from fastapi import Request
from pydantic import Field

from undercover.web.access.asking import NotIn, Who, service_of
from undercover.web.api.said import Strict
from undercover.web.api.said import router as part

router = part("session", signed_in=False)


class Token(Strict):
    """What `undercover serve` printed, behind `?token=`."""

    token: str = Field(max_length=200, examples=["3q2-7wECAwQFBgcICQoLDA0ODxAREhMU"])
    passphrase: str | None = Field(None, max_length=1000, description="Where the server asks for one.")


class Key(Strict):
    """Sent as `Authorization: Bearer KEY` with every request."""

    key: str
    desk: str


@router.post("/session")
def begin(said: Token, request: Request) -> Key:
    """Change a one-time token, with the passphrase where one is asked for, into a key."""
    service = service_of(request)
    desk = service.sessions.taken(said.token, said.passphrase, service.settings.passphrase)
    if desk is None:
        if said.passphrase is not None and service.sessions.waits(said.token):
            service.audit.record("sign-in refused", service.settings.user(str(service.sessions.owner(said.token))))
        raise NotIn("This token was used already, is no longer good, or the passphrase is wrong.")
    service.audit.record("sign-in", service.settings.user(desk), by="key")
    return Key(key=service.sessions.cookie(desk), desk=desk)


closing = part("session")


@closing.delete("/session", status_code=204)
def end(asked: Who) -> None:
    """Sign out: the key is good for nothing any more."""
    asked.service.sessions.leave(asked.session)
    asked.record("sign-out")
