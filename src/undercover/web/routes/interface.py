"""What the JSON interface can do, as a page: made from its own description, without anybody else's assets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter
from starlette.responses import HTMLResponse

from undercover.web.access.asking import Who
from undercover.web.looks import page

router = APIRouter()


@router.get("/api")
def show(asked: Who) -> HTMLResponse:
    """Every operation with what it takes and answers."""
    document = asked.request.app.openapi()
    parts: dict[str, list[dict[str, Any]]] = {}
    for path, operations in document["paths"].items():
        for method, one in operations.items():
            parts.setdefault(one["tags"][0], []).append(_operation(path, method, one))
    address = f"{asked.service.settings.address}/api"
    said: dict[str, Any] = {
        "enter": f"""curl {address}/session -H 'Content-Type: application/json' -d '{{"token": "TOKEN"}}'""",
        "send": f"curl {address}/tables -H 'Authorization: Bearer KEY'",
    }
    return page(asked, "interface.html.j2", parts=parts, models=_models(document), **said)


def _operation(path: str, method: str, one: Mapping[str, Any]) -> dict[str, Any]:
    bodies = one.get("requestBody", {}).get("content", {})
    answered = {code: _name(said) for code, said in one["responses"].items() if code.startswith("2")}
    return {
        "id": one["operationId"],
        "path": path,
        "method": method.upper(),
        "words": one["description"],
        "takes": {kind: _schema(said["schema"]) for kind, said in bodies.items()},
        "answers": answered,
    }


def _name(said: Mapping[str, Any]) -> str:
    """What an answer is: a model, or the kind of a file."""
    content = said.get("content", {})
    known = content.get("application/json", {}).get("schema")
    return _schema(known) if known else " / ".join(content)


def _schema(schema: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    if schema.get("type") == "array":
        parts = schema.get("prefixItems") or [schema.get("items", {})]
        return f"[{', '.join(_schema(one) for one in parts)}]"
    kinds = schema.get("anyOf", ())
    return " | ".join(_schema(kind) for kind in kinds) if kinds else str(schema.get("type", "…"))


def _models(document: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """What is sent and answered, by name: its fields with their kinds and words."""
    return {
        name: {
            "words": schema.get("description", ""),
            "fields": [
                {
                    "name": field,
                    "kind": _schema(said),
                    "required": field in schema.get("required", ()),
                    "words": said.get("description", ""),
                }
                for field, said in schema["properties"].items()
            ],
        }
        for name, schema in document["components"]["schemas"].items()
        if "properties" in schema and not name.startswith(("Body_", "HTTPValidation", "ValidationError"))
    }
