"""Small files that appear whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write a mapping; whoever reads meanwhile sees the old one."""
    from undercover.io.plain import plain  # with numpy, which the first page does without

    write_text(path, json.dumps(plain(content), ensure_ascii=False, allow_nan=False))


def write_text(path: Path, text: str) -> None:
    """The same of a text."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)


def read_json(path: Path) -> dict[str, Any]:
    """Read it back."""
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def private_folder(path: Path) -> Path:
    """A folder that nobody else may look into."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.chmod(0o700)
    return path
