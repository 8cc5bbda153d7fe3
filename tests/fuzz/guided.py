"""``python tests/fuzz/guided.py TARGET OPTION ...``: a search that sees which lines a file reaches, by atheris.

The files are changed as everywhere here; what reaches new lines is kept and changed further. Options are libFuzzer's.
``make fuzz`` runs it for every target where atheris can be installed (Linux, Python up to 3.13).
"""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random


def search(name: str, options: list[str]) -> None:
    """Search until the options say that it is enough; a fault ends it, and the file lies in the working folder."""
    import atheris  # type: ignore[import-not-found, unused-ignore]

    sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]
    with atheris.instrument_imports(include=["undercover"]):
        from targets import TARGETS, seeds_of, typed, work
    target, seeds = TARGETS[name], work() / "seeds"
    seeds.mkdir()
    for number, seed in enumerate(seeds_of(target)):
        (seeds / str(number)).write_bytes(seed)

    def one(data: bytes) -> None:
        typed(target, work(), data)

    def changed(data: bytes, most: int, seed: int) -> bytes:
        return target.way(Random(seed), data)[:most]

    atheris.Setup([sys.argv[0], *options, str(seeds)], one, custom_mutator=changed)
    atheris.Fuzz()


if __name__ == "__main__":
    if len(sys.argv) == 1:
        from targets import TARGETS

        print(*TARGETS)
    else:
        search(sys.argv[1], sys.argv[2:])
