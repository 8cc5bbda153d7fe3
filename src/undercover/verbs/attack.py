"""Attack: one verb for every attack there is."""

from __future__ import annotations

import os
from typing import Any, TypeAlias, TypeVar, cast, overload

from undercover import plugins
from undercover.attacks.linkage import Linkage, LinkageResult
from undercover.errors import ParameterError
from undercover.forms.case import Case
from undercover.model.protocols import Attack, Method
from undercover.model.run import Run
from undercover.verbs.store import load, original_of
from undercover.waiting import Progress, teller, telling

R = TypeVar("R")
Target: TypeAlias = Run | Case | str | os.PathLike[str]


@overload
def attack(
    target: Target, attacker: None = None, *, original: Any = None, progress: Progress | bool = False
) -> LinkageResult: ...


@overload
def attack(target: Target, attacker: Attack[R], *, original: Any = None, progress: Progress | bool = False) -> R: ...


@telling
def attack(
    target: Target, attacker: Attack[R] | None = None, *, original: Any = None, progress: Progress | bool = False
) -> R | LinkageResult:
    """Attack a release with what the holder knows: the original table.

    Parameters
    ----------
    target
        A run, the folder it was saved to, or a case made of one before.
    attacker
        By default :class:`undercover.Linkage` with every quasi-identifier known. :class:`undercover.AlgorithmAware`
        goes through everything the method could have published of a table of a few people,
        :class:`undercover.Minimality` asks of a Mondrian release of any size why its groups were not cut further.
    original
        Where the run does not know it: the original table or its path.
    progress
        ``True`` shows how far it is on stderr; or a function, called with a stage and the share of it that is done.

    Raises
    ------
    ParameterError
        If the attack does not apply to this release; the message says why.

    Examples
    --------
    >>> import undercover as uc
    >>> schema = uc.Schema(quasi_identifiers=["age"], sensitive="income")
    >>> run = uc.publish(uc.datasets.census(1000), schema, uc.Mondrian(k=10))
    >>> bool(uc.attack(run).after.identity.max() <= 1 / 10)
    True
    """
    teller(progress)("reading", 0.0)
    case = target if isinstance(target, Case) else case_of(target, original)
    asked: Attack[Any] = Linkage() if attacker is None else attacker
    why_not = asked.applies(case)
    if why_not is not None:
        raise ParameterError(why_not)
    teller(progress)("attacking", 0.0)
    return cast(R, asked.run(case, progress=teller(progress)))


def case_of(target: Run | str | os.PathLike[str], original: Any = None) -> Case:
    """The case of a run or of the folder it was saved to; the original is read once, for all attacks on it."""
    run = target if isinstance(target, Run) else load(target)

    def made_by() -> Method:
        from undercover.verbs.joint import method_of

        return method_of(run)

    return Case(original_of(run, original), run.release, run, made_by=made_by)


def attacks_of(case: Case) -> list[Attack[Any]]:
    """Every attack that a report runs unasked and that applies to a case, in the order of the plug-ins."""
    known = (plugins.load("attacks", name) for name in plugins.names("attacks"))
    made: list[Attack[Any]] = [attacker() for attacker in known if attacker.effort == "report"]
    return [attacker for attacker in made if attacker.applies(case) is None]
