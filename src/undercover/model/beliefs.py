"""What releases of the same people tell together about each of them: what a guarantee is asked to judge.

The joint attack (:mod:`undercover.attacks.joint.overlap`) fills it in; a guarantee reads it in ``holds_jointly``. For
every person and value there are two kinds of figures, and they must not be mixed up:

- *Bounds*, ``least`` and ``most``. Whoever cannot tell the people of a cell apart believes no less and no more,
  whatever else is assumed: of the n people of a cell at least a and at most b have the value, so a/n <= belief <= b/n.
- The belief of somebody who *assumes* that releases tell nothing of each other given the value (product form). It is
  an attack, not a bound.

A guarantee decides on the bounds. :meth:`JointBeliefs.taken_for_true` puts the assumed belief in their place, so that
the same question can be asked of the attack.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Whole = NDArray[np.int64]

ROUNDING = 1e-9
"""Differences of beliefs that are rounding errors."""


class BeliefBlock(NamedTuple):
    """Some people who are told apart, and what can be believed of each value of theirs."""

    people: Whole  # (n,) how many people each row stands for
    least: Floats  # (n, n_values) belief is at least so much
    most: Floats  # (n, n_values) and at most so much; 0 is impossible
    assumed: Floats  # (n, n_values) of somebody who assumes that releases are independent given the value

    @property
    def left(self) -> Whole:
        """(n,) values that are not ruled out; 0 where releases contradict each other."""
        return np.asarray((self.most > 0).sum(axis=1))

    @property
    def settled(self) -> Bools:
        """(n,) whether the bounds meet, so that the belief is known exactly."""
        return np.asarray((self.most - self.least <= ROUNDING).all(axis=1) & (self.left > 0))

    def tightened(self) -> BeliefBlock:
        """The same with what follows because beliefs add up to 1."""
        least, most = self.least, self.most
        least = np.maximum(least, 1 - (most.sum(axis=1, keepdims=True) - most))
        least = np.where(most > 0, least, 0.0)
        most = np.minimum(most, np.maximum(1 - (least.sum(axis=1, keepdims=True) - least), 0))
        return self._replace(least=least, most=np.where(self.most > 0, np.maximum(most, least), 0.0))


class Judgement(NamedTuple):
    """Of some people, for whom a promise surely holds and for whom it surely does not; neither is not decided."""

    holds: Bools  # (n,)
    fails: Bools  # (n,)


@dataclass(frozen=True)
class JointBeliefs:
    """What is believed of one sensitive column of people who are in several releases.

    ``blocks`` gives the people block by block, so that no table of all people and values is ever held at once.

    Examples
    --------
    Two people who are told apart. Of the first nothing but the values 0 and 1 is possible, of the second only 1:

    >>> most = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
    >>> assumed = np.array([[0.3, 0.7, 0.0], [0.0, 1.0, 0.0]])
    >>> block = BeliefBlock(np.array([1, 1]), np.zeros((2, 3)), most, assumed)
    >>> beliefs = JointBeliefs("ill", ("flu", "cold", "gout"), np.array([1, 1, 1]), lambda: iter([block]))
    >>> beliefs.decide(lambda block: at_most(block, 1 / 2))
    False
    >>> beliefs.decide(lambda block: Judgement(block.left >= 1, block.left < 1))
    True
    """

    column: str
    labels: tuple[str, ...]  # the values, as text
    overall: Whole  # (n_values,) rows of each value in the table the promise is about
    blocks: Callable[[], Iterator[BeliefBlock]] = field(repr=False)
    alike: Whole | None = field(default=None, repr=False)  # people who fit the same rows of all, for everybody

    @property
    def shares(self) -> Floats:
        """(n_values,) how frequent each value is in the whole table."""
        return np.asarray(self.overall / max(int(self.overall.sum()), 1), dtype=np.float64)

    def decide(self, judge: Callable[[BeliefBlock], Judgement]) -> bool | None:
        """Whether a promise holds for everybody: ``None`` where it fails for nobody and is not decided for somebody.

        Nothing is concluded about people of whom the releases contradict each other: they are not in all of them.
        """
        decided = True
        for block in self.blocks():
            tight = block.tightened()
            holds, fails = judge(tight)
            there = tight.left > 0
            if (fails & there).any():
                return False
            decided = decided and bool((holds & there).all())
        return True if decided else None

    def taken_for_true(self) -> JointBeliefs:
        """The same as if the assumption of the attack were true: its beliefs in place of the bounds."""

        def assumed() -> Iterator[BeliefBlock]:
            yield from (block._replace(least=block.assumed, most=block.assumed) for block in self.blocks())

        return replace(self, blocks=assumed)


def at_most(block: BeliefBlock, limit: float) -> Judgement:
    """Whether no value is believed with more than a limit.

    Of m values that are left, one is believed with at least 1/m.
    """
    surest = np.maximum(block.least.max(axis=1), 1 / np.maximum(block.left, 1))
    return Judgement(block.most.max(axis=1) <= limit + ROUNDING, surest > limit + ROUNDING)


def at_least_left(block: BeliefBlock, values: float) -> Judgement:
    """Whether so many values stay possible."""
    return Judgement((block.least > 0).sum(axis=1) >= values, block.left < values)
