"""The command line: one file per command, loaded when it is called.

Next to nothing is imported here, so that whoever is ended while the rest is loaded ends well, too.
"""

import sys
import time

_beginnings = [time.perf_counter()]


class Told:
    """What one command was told about telling: to be ``quiet``; and whether somebody was made to ``wait``.

    Where errors are to be ``json``, one object is printed; whether it is known by ``printed``.
    """

    def __init__(self) -> None:
        self.quiet = self.waited = self.json = self.printed = False


TOLD = Told()


def run() -> None:
    """The program: first how it is ended, then what it can do, which takes a moment to load."""
    try:
        from undercover.ending import heed

        heed()
        from undercover.cli.main import main
    except KeyboardInterrupt:
        print("interrupted; nothing was written", file=sys.stderr)
        raise SystemExit(130) from None
    main()


def began() -> float:
    """When this command began: the first one with the program, another in the same process now."""
    return _beginnings.pop() if _beginnings else time.perf_counter()
