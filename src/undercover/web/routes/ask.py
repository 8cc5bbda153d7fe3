"""Ask the release: the recipient's side."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import HTMLResponse

from undercover.web.access.asking import Who
from undercover.web.looks import page

router = APIRouter()


@router.get("/ask")
def show(asked: Who) -> HTMLResponse:
    """The page."""
    return page(asked, "ask.html.j2")
