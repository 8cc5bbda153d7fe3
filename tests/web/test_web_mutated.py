"""Releases with something changed in their manifest, at random: each is explained, and none is a bug of ours."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from web_received import packed, public_files

from effort import TIMES
from undercover.errors import UndercoverError
from undercover.web.asked.opened import Opened, open_files, remove
from undercover.web.asked.questions import ask
from undercover.web.asked.verifying import verify
from undercover.web.desks.desk import Desk

WORDS = ("", "*", "age", "pay", "nobody", "1/3", "\x00", "interval", "set", "node", "sensitive", "structure", "<b>")
OTHERS = (None, True, 0, -1, 2, 10**30, 0.5, 1e308, [], [1], ["age"], [[]], [None], {}, {"a": 1})


def places(content: Any, where: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place of a manifest."""
    inside = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for key, value in inside:
        yield (*where, key)
        yield from places(value, (*where, key))


def mutated(chance: random.Random) -> dict[str, bytes]:
    """The files of a release, with one place of its manifest another one, or gone."""
    files = dict(public_files(chance.choice(["mondrian", "anatomy"])))
    content = json.loads(files["release.json"])
    *above, last = chance.choice(list(places(content)))
    inner = content
    for key in above:
        inner = inner[key]
    if chance.random() < 0.15:
        del inner[last]
    else:
        inner[last] = chance.choice([*WORDS, *OTHERS])
    return {**files, "release.json": json.dumps(content).encode()}


def test_whatever_is_changed_is_explained(tmp_path: Path) -> None:
    desk, chance = Desk(tmp_path, "own"), random.Random(1)
    seen = set()
    for _ in range(60 * TIMES):
        one = open_files(desk, [("a.zip", io.BytesIO(packed(mutated(chance))))], 1 << 24)
        verify(one.work, {}, lambda *said, **more: None)
        found = Opened(one.folder).found
        assert found is not None
        assert found["outcome"] in ("holds", "private", "nothing") or found["problems"] or found["promises"]
        seen.add(found["outcome"])
        for column in (None, "pay"):
            with suppress(UndercoverError):  # which whoever asks is told; anything else is a bug
                ask(Opened(one.folder), column, {})
        remove(one)
    assert {"fails", "unreadable"} <= seen
