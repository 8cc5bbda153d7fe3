"""What every part of the JSON interface says: problems, who may ask, and how an operation is named."""

from __future__ import annotations

from typing import Any, Final

from fastapi import APIRouter, Depends
from fastapi.routing import APIRoute
from fastapi.security import HTTPBearer
from pydantic import BaseModel, ConfigDict, Field

from undercover.web.access.asking import unforged


class Problems(BaseModel):
    """What went wrong, one sentence each."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"problems": ["There is no such table here."]}]})

    problems: list[str] = Field(description="Sentences for people; what to do is among them.")


class Strict(BaseModel):
    """What somebody sends: a key that nobody here knows is refused, not ignored."""

    model_config = ConfigDict(extra="forbid")


_WHY: Final = {
    400: "What was sent cannot be done; the problems say why.",
    401: "Nobody is signed in.",
    403: "A browser's cookie alone changes nothing: send X-CSRF, or a bearer key.",
    404: "There is no such thing at this desk.",
    409: "It was changed meanwhile; look at what is there now.",
    413: "That is too large.",
    422: "What was sent is not of the form described.",
    429: "Too many jobs wait, or too many passphrases were wrong; wait a while.",
}
ERRORS: Final[dict[int | str, dict[str, Any]]] = {
    code: {"model": Problems, "description": why} for code, why in _WHY.items()
}
BEARER: Final = HTTPBearer(auto_error=False, description="The key that `POST /api/session` answers.")


def named(route: APIRoute) -> str:
    """The operation id: the name of its function, and the part it belongs to."""
    return f"{route.tags[0]}_{route.name}"


def router(tag: str, *, signed_in: bool = True) -> APIRouter:
    """The routes of one part; whoever asks must be signed in."""
    guards = [Depends(BEARER), Depends(unforged)] if signed_in else []
    return APIRouter(tags=[tag], responses=ERRORS, dependencies=guards, generate_unique_id_function=named)
