"""Small made-up trees with a fault in them, for the checks that must find it."""

from collections.abc import Mapping
from pathlib import Path


def planted(root: Path, files: Mapping[str, str]) -> Path:
    """Write some files below a folder; returns that folder."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root
