"""What `make soak` does for an hour, in small: a release in this process, and watches that can bark.

Kills and what is done on the web are in `tests/faults` and `tests/web`.
"""

from __future__ import annotations

import os

import pytest
from tests.soak.soaking import WARM, Watch, soak


def test_a_piece_of_work_leaves_nothing() -> None:
    with soak(1) as one:
        one.one("published in this process")
        assert one.wrong == []
        assert [path.name for path in one.home.iterdir()] == ["temporary"]
        assert one.own.last[0] > 0


def test_what_is_wrong_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with soak(1) as one:
        monkeypatch.setattr(type(one), "here", lambda self: (self.temporary / "left").touch() or "bad")
        one.one("published in this process")
    assert one.wrong == ["1, published in this process: bad left in the temporary folder: ['left']"]
    watch = Watch("it", os.getpid())
    for _ in range(WARM):
        watch.look()
    assert watch.wrong() == ""
    watch.first = (watch.first[0] - 1, watch.first[1])
    assert watch.wrong().startswith("it: ")
