"""Write the stored values anew: ``python tests/golden/make.py [FOLDER]``.

Every recipe is published, saved, verified, attacked and measured with the ``undercover`` that is imported, and what is
held of it replaces the files in ``stored/`` (or is written to FOLDER, to be compared with them). Do this only after a
deliberate change of what is published or printed, look at the difference that version control shows, and say in the
commit why it is right. Names of recipes after FOLDER limit the work to them.

``stored/NAME.json`` holds the release of a recipe, ``stored/reports/NAME.json`` the figures of its report, and
``stored/commands.json`` what further commands print.
"""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from golden_values import COMMANDS, REPORTS, STORED, held, other_answers, released, report_figures
from recipes import RECIPES


def write(path: Path, content: Any) -> None:
    """One line per entry of the second level, with keys in order, so that differences can be read."""
    path.parent.mkdir(parents=True, exist_ok=True)
    parts = []
    for name in sorted(content):
        part = content[name]
        if isinstance(part, dict) and part:
            lines = [f"  {_text(key)}: {_text(part[key])}" for key in sorted(part)]
            parts.append(f" {_text(name)}: {{\n" + ",\n".join(lines) + "\n }")
        else:
            parts.append(f" {_text(name)}: {_text(part)}")
    path.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


def make(folder: Path = STORED, names: list[str] | None = None) -> None:
    """Write the stored values of these recipes, by default of all and of the further commands."""
    with tempfile.TemporaryDirectory() as place:
        root = Path(place).resolve()
        for name in names or RECIPES:
            write(folder / f"{name}.json", held(name, root))
            write(folder / REPORTS.name / f"{name}.json", report_figures(released(name, root)))
        if not names:
            write(folder / COMMANDS.name, other_answers(root / "commands"))


def _text(content: Any) -> str:
    return json.dumps(content, ensure_ascii=False, sort_keys=True, allow_nan=False)


if __name__ == "__main__":
    make(*([Path(sys.argv[1]), sys.argv[2:]] if sys.argv[1:] else []))
