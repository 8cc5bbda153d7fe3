"""The step protect."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import HTMLResponse

from undercover.web.access.asking import Of, Who
from undercover.web.looks import page

router = APIRouter()


@router.get("/tables/{key}/protect")
def show(project: Of, asked: Who) -> HTMLResponse:
    """The page."""
    return page(asked, "protect.html.j2", project=project, step="protect")
