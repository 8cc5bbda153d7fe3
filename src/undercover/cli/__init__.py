"""The command line: one file per command, loaded when it is called."""

import time

_beginnings = [time.perf_counter()]


def began() -> float:
    """When this command began: the first one with the program, another in the same process now."""
    return _beginnings.pop() if _beginnings else time.perf_counter()
