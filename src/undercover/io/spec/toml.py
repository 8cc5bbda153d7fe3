"""Values written as TOML; the standard library reads it and does not write it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from undercover.errors import InternalError


def quoted(text: str) -> str:
    r"""A TOML basic string; JSON escapes all that TOML wants escaped but DEL.

    >>> quoted('say "age"'), quoted("a\x7fb")
    ('"say \\"age\\""', '"a\\u007fb"')
    """
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def written(value: Any) -> str:
    """A value on one line: text, number, truth, list or inline table.

    >>> written(["a", 1, 0.5, True, {"name": "b"}])
    '["a", 1, 0.5, true, {"name" = "b"}]'
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else str(value)  # inf and nan are written as Python does
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(written, value))}]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{quoted(str(key))} = {written(inner)}" for key, inner in value.items()) + "}"
    raise InternalError(f"A {type(value).__name__} cannot be written as TOML.")
