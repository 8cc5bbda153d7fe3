"""What to change about a release that may not be published, in parameters that its method takes.

Which parameter makes groups larger, or mixes their values, is asked of the method: ``larger_groups`` and ``mixing``
name it; without them the usual names are tried. What is advised is tried first: a variant may refuse what others take.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from undercover.errors import InputError
from undercover.parameters import describe

_GROUPS = ("k", "l")
_MIXING = {"l": "a larger l", "t": "a smaller t", "p": "a smaller p"}
_SHARES = ("t", "p")


def larger_groups(method: Any, size: int) -> str:
    """How to have no row found with more than one in ``size``.

    >>> from undercover.methods.mondrian.method import Mondrian
    >>> larger_groups(Mondrian(k=2), 5)
    'Ask for larger groups (k at least 5), or publish fewer or coarser columns.'
    """
    named = [name for name in (getattr(method, "larger_groups", ""), *_GROUPS) if name and _takes(method, name, size)]
    if named:
        return f"Ask for larger groups ({named[0]} at least {size}), or publish fewer or coarser columns."
    return "Publish fewer or coarser columns, or choose a method that publishes larger groups."


def mixed_values(method: Any, column: str) -> str:
    """How to have the values of a sensitive column believed less.

    >>> from undercover.methods.anatomy.method import Anatomy
    >>> mixed_values(Anatomy(l=2), "ill")
    'Ask the method to mix values of `ill` (a larger l), or publish fewer or coarser quasi-identifiers.'
    """
    named = {**_MIXING, **getattr(method, "mixing", {})}
    ways = [how for name, how in named.items() if _takes(method, name, _further(method, name))]
    if ways:
        how = f"Ask the method to mix values of `{column}` ({' or '.join(ways)})"
    else:
        how = f"Choose a method that mixes values of `{column}`"
    return f"{how}, or publish fewer or coarser quasi-identifiers."


def ask_for_less(method: Any) -> str:
    """How to have less generalised.

    >>> from undercover.methods.streamliner.method import Streamliner
    >>> ask_for_less(Streamliner(l=3))
    'Ask for less (a smaller l)'
    """
    named = [name for name in _GROUPS if getattr(method, name, None) is not None]
    return f"Ask for less (a smaller {' or '.join(named)})" if named else "Ask for less"


def _further(method: Any, name: str) -> Any:
    """A value of a parameter that asks for more than now."""
    now = getattr(method, name, None)
    if name in _SHARES:
        return 0.1 if now is None else float(now) / 2
    return 2 if now is None else int(now) + 1


def _takes(method: Any, name: str, value: Any) -> bool:
    """Whether a method can be asked for this besides what it was asked for."""
    if method is None or name not in {parameter.name for parameter in describe(type(method))}:
        return False
    try:
        replace(method, **{name: value})
    except InputError:
        return False
    return True
