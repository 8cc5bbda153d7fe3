"""Values as JSON can hold them."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping
from datetime import date
from fractions import Fraction
from pathlib import PurePath
from typing import Any

import numpy as np

from undercover.characters import escaped
from undercover.errors import InternalError
from undercover.model.view import View

_AS_IT_IS = (str, bool, int, type(None))


def plain(value: Any) -> Any:
    """Mappings, lists, texts and numbers only; a non-finite number, which JSON does not know, becomes ``None``."""
    if isinstance(value, _AS_IT_IS):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None  # numpy's own floats are floats as well
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict | Mapping):  # most mappings are: of a dict that is asked faster
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        return sorted((plain(item) for item in value), key=str)
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, Fraction | date | PurePath):
        return str(value)
    if isinstance(value, View):
        return plain(value.to_dict(pictures=False))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {part.name: plain(getattr(value, part.name)) for part in dataclasses.fields(value)}
    raise InternalError(f"A value of type {type(value).__name__} cannot be written as JSON.")


def as_json(value: Any) -> str:
    """``value`` as JSON text, one key per line."""
    return escaped(json.dumps(plain(value), indent=2, allow_nan=False, ensure_ascii=False)) + "\n"
