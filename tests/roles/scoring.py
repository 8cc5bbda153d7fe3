"""How well `inspect` suggests roles: the frozen tables, columns made as they are described there, recall and precision.

The words for values: ``17..90`` and ``0.5..9.5`` (numbers between), ``a | b | c`` (categories, the first most often),
``serial 1`` (1, 2, 3, …), ``like ##-@`` (digits and letters), ``dates FROM TO as FORMAT``, ``mix a; b x c; d`` (one of
each), ``texts a | b`` (several, in any order), ``always a``, ``often 0 else 1..9``, ``repeating …`` (two rows each),
and ``…; missing 0.3``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from zlib import crc32

import numpy as np
import pyarrow as pa

ROWS = 1000
RISKY = {"I": "identifier", "Q": "quasi-identifier", "S": "sensitive"}


@dataclass(frozen=True)
class Judged:
    """A frozen table: its name, the judgement on each column, and rows like its own."""

    name: str
    judgements: dict[str, str]
    data: pa.Table


@dataclass(frozen=True)
class Score:
    """What was caught, missed, and called risky without being so; as (table, column)."""

    caught: tuple[tuple[str, str], ...]
    missed: tuple[tuple[str, str], ...]
    wrong: tuple[tuple[str, str], ...]
    right_role: int
    harmless: int  # columns

    @property
    def recall(self) -> float:
        """Share of the risky columns that got any risky role."""
        return len(self.caught) / (len(self.caught) + len(self.missed))

    @property
    def precision(self) -> float:
        """Share of the columns with a risky role that are risky."""
        return len(self.caught) / max(1, len(self.caught) + len(self.wrong))

    @property
    def false_alarms(self) -> float:
        """Share of the harmless columns that got a risky role."""
        return len(self.wrong) / self.harmless

    @property
    def roles(self) -> float:
        """Share of what was caught that got the very role it has by hand."""
        return self.right_role / max(1, len(self.caught))


def frozen(file: str) -> list[Judged]:
    """The tables of one file, with rows."""
    with Path(__file__).with_name(file).open("rb") as opened:
        entries = tomllib.load(opened)["table"]
    return [
        Judged(
            entry["name"],
            {name: judgement for name, judgement, _, _ in entry["columns"]},
            pa.table(
                {name: pa.array(_column(f"{entry['name']} {name}", values)) for name, _, values, _ in entry["columns"]}
            ),
        )
        for entry in entries
    ]


def score(tables: Sequence[Judged], suggested: Sequence[dict[str, str]]) -> Score:
    """Judgements against suggestions; what is open counts for nothing."""
    right = 0
    sorted_out: dict[str, list[tuple[str, str]]] = {"caught": [], "missed": [], "wrong": []}
    for table, roles in zip(tables, suggested, strict=True):
        for name, judgement in table.judgements.items():
            risky, called = judgement in RISKY, roles[name] in RISKY.values()
            if judgement != "?" and (risky or called):
                sorted_out["caught" if risky and called else "missed" if risky else "wrong"].append((table.name, name))
                right += risky and RISKY[judgement] == roles[name]
    harmless = sum(judgement == "-" for table in tables for judgement in table.judgements.values())
    return Score(**{key: tuple(listed) for key, listed in sorted_out.items()}, right_role=right, harmless=harmless)


def _column(name: str, words: str) -> list[object]:
    random = np.random.default_rng(crc32(name.encode()))
    words, _, share = words.partition("; missing ")
    values = _values(words, random)
    if not share:
        return values
    return [None if none else value for none, value in zip(random.random(ROWS) < float(share), values, strict=True)]


def _values(words: str, random: np.random.Generator) -> list[object]:
    first, _, rest = words.partition(" ")
    if first == "repeating":
        keys = _values(rest, random)
        return [keys[row // 2] for row in range(ROWS)]
    if first == "often":
        usual, other = rest.split(" else ")
        usually = random.random(ROWS) < 0.9
        return [int(usual) if so else value for so, value in zip(usually, _values(other, random), strict=True)]
    if first == "always":
        return [int(rest) if rest.isdigit() else rest] * ROWS
    if first == "serial":
        return [int(rest) + row for row in range(ROWS)]
    if first == "like":
        signs = [_signs(sign, random) for sign in rest]
        return ["".join(letters) for letters in zip(*signs, strict=True)]
    if first == "dates":
        begin, end, _, form = rest.split(" ", 3)
        start = datetime.fromisoformat(begin)
        seconds = (datetime.fromisoformat(end) - start).total_seconds()
        return [(start + timedelta(seconds=int(seconds * share))).strftime(form) for share in random.random(ROWS)]
    if first == "mix":
        parts = [part.split("; ") for part in rest.split(" x ")]
        chosen = [[part[place] for place in random.integers(len(part), size=ROWS)] for part in parts]
        return [" ".join(words) for words in zip(*chosen, strict=True)]
    if first == "texts":
        phrases = rest.split(" | ")
        places = random.integers(len(phrases), size=(ROWS, 3))
        return [". ".join(phrases[place] for place in three) + f" {row}" for row, three in enumerate(places)]
    if ".." in words:
        low, high = words.split("..")
        if "." in low + high:
            digits = 2 if float(high) - float(low) > 2 else 6  # coordinates within a town have more
            return [round(float(value), digits) for value in random.uniform(float(low), float(high), ROWS)]
        return [int(value) for value in random.integers(int(low), int(high) + 1, ROWS)]
    listed = words.split(" | ")
    choices: list[object] = [*map(int, listed)] if all(map(str.isdigit, listed)) else [*listed]
    shares = 1 / np.arange(1, len(choices) + 1)
    return [choices[int(place)] for place in random.choice(len(choices), size=ROWS, p=shares / shares.sum())]


def _signs(sign: str, random: np.random.Generator) -> list[str]:
    drawn = {"#": "0123456789", "@": "ABCDEFGHJKLMNPQRSTUVWXYZ"}.get(sign, sign)
    return [drawn[place] for place in random.integers(len(drawn), size=ROWS)]
