"""``undercover warm-up``."""

from __future__ import annotations

from undercover.cli.output import console, progress_on_stderr


def command() -> None:
    """Compile, and say where the result is kept."""
    from undercover.compiled.kept import kept_in
    from undercover.studies.warm_up import warm_up

    with progress_on_stderr() as progress:
        progress("compiling", 0.0)
        warm_up(progress)
    place = kept_in()
    if place is None:
        console().print("Compiled, but there is no folder to keep it in. Set NUMBA_CACHE_DIR to one, and do it again.")
    else:
        console().print(f"Compiled for this machine, and kept in {place}: no command has to wait for it.", markup=False)
