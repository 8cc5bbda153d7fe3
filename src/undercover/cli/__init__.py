"""The command line: one file per command, loaded when it is called."""

import time
from dataclasses import dataclass

_beginnings = [time.perf_counter()]


@dataclass
class Told:
    """What one command was told about telling: to be ``quiet``; and whether somebody was made to wait."""

    quiet: bool = False
    waited: bool = False


TOLD = Told()


def run() -> None:
    """The program: first how it is ended, then what it can do, for that takes a moment to load."""
    from undercover.ending import heed, say

    heed()
    try:
        from undercover.cli.main import main
    except KeyboardInterrupt as error:
        say(error)
        raise SystemExit(130) from None
    main()


def began() -> float:
    """When this command began: the first one with the program, another in the same process now."""
    return _beginnings.pop() if _beginnings else time.perf_counter()
