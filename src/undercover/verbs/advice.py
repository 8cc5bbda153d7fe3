"""What to change about a release that may not be published, in parameters that its method has.

Which parameter makes groups larger, or mixes their values, is asked of the class of the method: ``larger_groups`` and
``mixing`` name it; without them the usual names are looked for among its parameters.
"""

from __future__ import annotations

from typing import Any

from undercover import plugins
from undercover.model.run import Run
from undercover.parameters import describe

_GROUPS = ("k", "l")
_MIXING = {"l": "a larger l", "t": "a smaller t", "p": "a smaller p"}


def method_of(run: Run | None) -> type[Any] | None:
    """The class of the method that made a run; ``None`` where it is not installed."""
    if run is None:
        return None
    if run.method is not None:
        return type(run.method)
    return plugins.load("methods", run.release.method) if run.release.method in plugins.names("methods") else None


def larger_groups(method: type[Any] | None, size: int) -> str:
    """How to have no row found with more than one in ``size``.

    >>> larger_groups(plugins.load("methods", "mondrian"), 5)
    'Ask for larger groups (k at least 5), or publish fewer or coarser columns.'
    """
    known = _parameters(method)
    named = [name for name in (getattr(method, "larger_groups", None), *_GROUPS) if name in known]
    if named:
        return f"Ask for larger groups ({named[0]} at least {size}), or publish fewer or coarser columns."
    return "Publish fewer or coarser columns, or choose a method that publishes larger groups."


def mixed_values(method: type[Any] | None, column: str) -> str:
    """How to have the values of a sensitive column believed less.

    >>> mixed_values(plugins.load("methods", "anatomy"), "ill")
    'Ask the method to mix values of `ill` (a larger l), or publish fewer or coarser quasi-identifiers.'
    """
    known = _parameters(method)
    ways = [how for name, how in {**_MIXING, **getattr(method, "mixing", {})}.items() if name in known]
    if ways:
        how = f"Ask the method to mix values of `{column}` ({' or '.join(ways)})"
    else:
        how = f"Choose a method that mixes values of `{column}`"
    return f"{how}, or publish fewer or coarser quasi-identifiers."


def ask_for_less(method: type[Any] | None) -> str:
    """How to have less generalised.

    >>> ask_for_less(plugins.load("methods", "streamliner"))
    'Ask for less (a smaller l)'
    """
    named = [name for name in _GROUPS if name in _parameters(method)]
    return f"Ask for less (a smaller {' or '.join(named)})" if named else "Ask for less"


def _parameters(method: type[Any] | None) -> set[str]:
    return set() if method is None else {parameter.name for parameter in describe(method)}
