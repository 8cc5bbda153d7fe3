"""Releases of one table by several methods, each from the methods that are offered to a verified download."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from calling import Caller
from some_people import SPEC, write_people

import undercover as uc
from undercover import plugins
from undercover.parameters import describe


def by_hand(card: dict[str, Any]) -> dict[str, Any]:
    """What is proposed, or, where no parameters satisfy the policy, what somebody would begin with."""
    needed = [one.name for one in describe(plugins.load("methods", card["name"])) if one.required]
    return dict(card["proposed"] or dict.fromkeys(needed, 2))


def released(caller: Caller, names: Sequence[str], place: Path) -> tuple[dict[str, bool | None], list[str]]:
    """What verifying each download says, by the method, and the pages of the results; all methods fit this table."""
    key = caller.upload(write_people(place / "people.csv"))
    caller.decide(key, SPEC)
    cards = {card["name"]: card for card in caller.asked("GET", f"/api/tables/{key}/methods") if card["fits"]}
    assert sorted(cards) == sorted(plugins.names("methods"))
    found, pages = {}, []
    for name in names:
        caller.decide(key, {**SPEC, "method": {"name": name, **by_hand(cards[name])}})
        number = caller.publish(key)
        caller.freed(key, number)
        found[name] = uc.verify(caller.download(key, number, place / name)).holds
        pages.append(f"/tables/{key}/releases/{number}")
    return found, pages
