"""Linkage: the attacker knows a person's quasi-identifiers and looks for the rows that match.

Samarati & Sweeney 1998 for identity disclosure by matching; the class-majority guess for attribute disclosure is the
"background knowledge free" attack of Machanavajjhala et al. 2006.

A published row matches if every known value lies in its cell. With m matching rows the person is any of them with
probability 1/m; a sensitive value is as probable as it is frequent among them. Guessing is shown beside it: what the
attacker can do without the release, knowing only the overall distribution.

Where quasi-identifiers were drawn or permuted at random, the rows that fit need not include the person's own; he then
finds it with probability 0. What the rows that fit show is then no belief, unless the form publishes the law by which
they may be weighed: figures say how often he is right, and what may be believed is left to the attackers who know the
law (told the groups, informed). With ``p_match`` he matches on some of the columns he knows only: see
:mod:`undercover.attacks.partial.profile`. Where people have several rows, all of them are known and everything is
counted by person: see :mod:`undercover.attacks.people`.

In a very large table he looks for a random sample of the people in the whole release, and besides for those whose own
class gives away most: see :mod:`undercover.attacks.sampled`.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from undercover.attacks.partial.profile import ONE_EACH, PAPERS, Profile, profile
from undercover.attacks.people import Beliefs, Targets, first_rows, groups_of, of_people
from undercover.attacks.sampled import Sampled, drawn_people, most_given_away, part_of_sample
from undercover.attacks.views import linkage_view, outcomes_of, partial_view, without_beliefs
from undercover.forms.case import Case
from undercover.forms.disclosure import Disclosure
from undercover.forms.reading import Rows
from undercover.model.protocols import Effort, Progress, no_progress
from undercover.model.verdict import Exposure
from undercover.model.view import View, Viewable
from undercover.parameters import AtLeast, Within, check

SIZE_BINS = (1, 2, 3, 5, 10, 20, 50, 100)
WORST = 20
_EDGES = np.linspace(0.0, 1.0, 21)

STORY = (
    "The attacker knows that a person is in the table and knows the person's values in the columns {known}. "
    "He looks for the published rows these values fit, takes the person to be any of them with equal probability, "
    "and guesses the sensitive value that is most frequent among them."
)
P_MATCH_STORY = (
    " He does not match on all of these values: on each with probability {p:g}, whatever he does with the others. What "
    "he achieves is averaged over all subsets."
)
PEOPLE_STORY = (
    " He knows all rows of the person: he has found one of them if the row he takes is any of the person's, and a "
    "value is the person's if it is in at least one of these rows."
)


@dataclass(frozen=True)
class LinkageResult(Viewable):
    """Linkage before and after, on every person, beside guessing."""

    known: tuple[str, ...]
    rows: NDArray[np.int64]  # input row of each target, the first of a person who has several
    before: Disclosure
    after: Disclosure
    baseline: Mapping[str, Any]
    told: str = ""  # what else there is to say of the attacker
    p_match: float | None = None
    profile: Profile | None = None  # of the release, for every P
    raw_profile: Profile | None = None  # of the original as it is
    attack: str = "linkage"  # in a report beside another, what it is called there
    who: str = "an attacker who links"  # in words
    shows_parts: bool = False  # whether it stands for somebody who matches on a part of the columns
    values: Mapping[str, Beliefs] = field(default_factory=dict)  # where people have several rows
    posterior: bool = True  # whether the rows that fit are what he may believe; False: figures are outcomes
    sampled: Sampled | None = None  # where not everybody was looked for

    @property
    def story(self) -> str:
        """What the attacker knows and does."""
        return STORY.format(known=", ".join(f"`{name}`" for name in self.known)) + self.told

    def worst_rows(self, limit: int = WORST) -> list[dict[str, Any]]:
        """The rows an attacker learns most about after publication; for the holder's eyes only."""
        rows, found = self._looked_for
        return [
            {
                "row": int(rows[i]),
                "matches": found.matches[i].item(),
                "identity": float(found.identity[i]),
                "attribute": {
                    name: None if name in found.lacking and found.lacking[name][i] else float(values[i])
                    for name, values in found.attribute.items()
                    if self.posterior
                },
            }
            for i in self._worst(limit)
        ]

    def worst_tied(self, limit: int = WORST) -> int:
        """Rows that :meth:`worst_rows` leaves out although as much is learnt of them as of the last one listed.

        Of the people who were looked for, where not everybody was.
        """
        listed, (rows, found) = self._worst(limit), self._looked_for
        alike = np.ones(len(rows), dtype=bool)
        for each in (self._surest(found), found.identity):
            alike &= np.isclose(each, each[listed[-1:]], rtol=1e-9, atol=0)
        return int(alike.sum() - alike[listed].sum())

    @cached_property
    def _looked_for(self) -> tuple[NDArray[np.int64], Disclosure]:
        """Everybody who was looked for: of a sample also those whose own class gives away most."""
        return (self.rows, self.after) if self.sampled is None else self.sampled.with_worst(self.rows, self.after)

    def _worst(self, limit: int) -> NDArray[np.int64]:
        """The places of the rows that most is learnt of, the worst first."""
        rows, found = self._looked_for
        sure, identity, most = self._surest(found), found.identity, min(limit, len(rows))
        near = np.flatnonzero(sure >= np.partition(sure, len(rows) - most)[len(rows) - most])  # one of them may be last
        return near[np.lexsort((rows[near], -identity[near], -sure[near]))][:most]

    def _surest(self, found: Disclosure) -> NDArray[np.float64]:
        """(n_rows,) how sure he is of the sensitive value of each row that he is surest of; 0 where nothing says."""
        attribute = [
            each if (lacks := found.lacking.get(name)) is None else np.where(lacks, 0.0, each)
            for name, each in found.attribute.items()
            if self.posterior
        ]
        return np.asarray(np.max(attribute, axis=0) if attribute else np.zeros(len(found.matches)))

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON-able values; ``worst_rows`` makes it private."""
        return deepcopy(self._figures)

    @cached_property
    def _figures(self) -> dict[str, Any]:
        of = None if self.sampled is None else self.sampled.of
        after = self.after.to_dict(of)
        if self.sampled is not None:
            self.sampled.note(after)
        if not self.posterior:
            after["attribute"] = {name: outcomes_of(found) for name, found in after["attribute"].items()}
        return {
            "attack": self.attack,
            **({} if self.posterior else {"beliefs": False}),
            "story": self.story,
            "known": list(self.known),
            "targets": len(self.rows),
            **({} if self.sampled is None else self.sampled.to_dict()),
            "before": self.before.to_dict(of),
            "after": after,
            "baseline": dict(self.baseline),
            **self._by_matches(),
            "attribute_histogram": {
                name: {
                    "edges": _EDGES.round(2).tolist(),
                    "before": self._for_all(np.histogram(_of_values(self.before, name), bins=_EDGES)[0]),
                    "after": self._for_all(np.histogram(_of_values(self.after, name), bins=_EDGES)[0])
                    if self.posterior
                    else None,
                }
                for name in self.after.attribute
            },
            "worst_rows": self.worst_rows(),
            "worst_tied": self.worst_tied(),
        }

    def exposures(self) -> tuple[Exposure, ...]:
        """Everybody's row and values; where rows fit by chance, how often he is right."""
        if self.p_match is None and self.posterior and self.values:
            found = Exposure(self.attack, self.rows, self.after.identity)
            each = ((name, told.rows, told) for name, told in self.values.items())
            return found, *(Exposure(self.attack, r, belief={n: v.belief}, prior={n: v.prior}) for n, r, v in each)
        if self.p_match is None and self.posterior and self.sampled is not None:
            return self.sampled.exposures(self.attack, self.rows, self.after)
        if self.p_match is None and self.posterior:
            return (Exposure(self.attack, self.rows, self.after.identity, self.after.attribute),)
        found = self._figures["after"]["identity"]
        ends = tuple(found["interval"]) if "interval" in found else None
        return (Exposure(self.attack, self.rows, rate=found["mean"], interval=ends),)

    def view(self) -> View:
        """What it shows."""
        return partial_view(self._figures) if self.shows_parts else linkage_view(self._figures)

    def _by_matches(self) -> dict[str, Any]:
        """How many rows fit, or with ``p_match`` what every P gives."""
        if self.profile is not None and self.p_match is not None:
            sides = {"sweep": self.profile, "sweep_before": self.raw_profile or self.profile}
            ps = sorted({*PAPERS, self.p_match})
            found = {name: [side.means(p) for p in ps] for name, side in sides.items()}
            if not self.posterior:
                found["sweep"] = [without_beliefs(entry) for entry in found["sweep"]]
            return {"p_match": self.p_match, **found}
        return {
            "match_sizes": {
                "before": self._sizes(self.before.matches),
                "after": self._sizes(self.after.matches),
            }
        }

    def _for_all(self, people: NDArray[np.int64]) -> list[int]:
        """Numbers of people; of a sample what they come to for everybody."""
        times = 1.0 if self.sampled is None else self.sampled.of / len(self.rows)
        return [round(times * count) for count in people.tolist()]

    def _sizes(self, matches: NDArray[np.int64]) -> list[dict[str, int | None]]:
        """How many people so many rows fit."""
        ends = [*(low - 1 for low in SIZE_BINS[1:]), None]
        inside = [
            ((matches >= low) & (True if high is None else matches <= high)).sum()
            for low, high in zip(SIZE_BINS, ends, strict=True)
        ]
        counts = self._for_all(np.array(inside))
        return [
            {"from": low, "to": high, "rows": count} for low, high, count in zip(SIZE_BINS, ends, counts, strict=True)
        ]

    def __repr__(self) -> str:
        return (
            f"<Linkage on {len(self.rows):,} people: identity {self.before.identity.max():.3f} -> "
            f"{self.after.identity.max():.3f} at worst; .to_dict() has everything>"
        )


@dataclass(frozen=True, kw_only=True)
class Linkage:
    """An attacker who knows quasi-identifiers and insensitive columns of a person in the table.

    Parameters
    ----------
    known
        The columns he knows; by default every quasi-identifier and every insensitive column.
    p_match
        He matches on each of them with this probability only, in [0, 1]; by default on all.
    most
        People he looks for; of more than these a random sample, with intervals. By default everybody in tables of up to
        half a million rows, and 50,000 in larger ones (fewer where cells cover several values and there are more than
        a million rows). People with several rows are all looked for.

    Examples
    --------
    >>> Linkage(known=("age",)).known
    ('age',)
    >>> Linkage(p_match=1.5)
    Traceback (most recent call last):
    undercover.errors.ParameterError: The 'p_match' parameter of Linkage must be a number in [0, 1]. Got 1.5 instead.
    """

    name: ClassVar[str] = "linkage"
    effort: ClassVar[Effort] = "report"
    slow: ClassVar[bool] = False

    known: tuple[str, ...] | None = None
    p_match: Annotated[float, Within(0, 1)] | None = None
    most: Annotated[int, AtLeast(2)] | None = None

    def __post_init__(self) -> None:
        check(self)

    def applies(self, case: Case) -> str | None:
        """Everybody can be looked for in any release; on some columns only, where a row is one person."""
        return None if self.p_match is None else ONE_EACH if not case.reading.one_each else None

    def run(self, case: Case, *, progress: Progress = no_progress) -> LinkageResult:
        """Attack every row of the original through the release."""
        original, reading = case.original, case.reading
        known = case.known(self.known, "Linkage")
        if self.p_match is not None:
            return self._subsets(case, known, float(self.p_match))
        chosen = drawn_people(original, self.most, part_of_sample(reading, known))
        if chosen is not None:
            return self._sample(case, known, chosen)
        asked = Targets.of(original, known, None, case.threads)
        after, before = asked.disclosure(reading), asked.disclosure(case.raw)
        after = _with_chance(after, case.own_chance(known))
        rows = original.rows
        values: dict[str, Beliefs] = {}
        if original.units is not None:
            rows = first_rows(original)
            before, _ = of_people(before, case.raw, asked, None)
            after, values = of_people(after, reading, asked, groups_of(case, known))
        return LinkageResult(
            known=known,
            rows=rows,
            before=before,
            after=after,
            values=values,
            baseline=case.baseline(),
            told=reading.story + (PEOPLE_STORY if original.units is not None else ""),
            posterior=reading.posterior,
        )

    def _sample(self, case: Case, known: tuple[str, ...], chosen: Rows) -> LinkageResult:
        """Attack the chosen rows of the original, and besides those whose own class gives away most."""
        original, reading = case.original, case.reading
        worst = most_given_away(case, part_of_sample(reading, known))
        both = np.concatenate([chosen, worst])
        found = Targets.of(original, known, both, case.threads).looked_for(reading, original)
        found = _with_chance(found, case.own_chance(known, both))
        before = Targets.of(original, known, chosen, case.threads).looked_for(None, original)
        drawn, besides = slice(0, len(chosen)), slice(len(chosen), len(both))
        return LinkageResult(
            known=known,
            rows=original.numbers(chosen),
            before=before,
            after=found.of_rows(drawn),
            baseline=case.baseline(),
            told=reading.story,
            posterior=reading.posterior,
            sampled=Sampled(
                original.n_rows, original.numbers(worst), found.of_rows(besides), reading.at_most(known, original)
            ),
        )

    def _subsets(self, case: Case, known: tuple[str, ...], p: float) -> LinkageResult:
        after = profile(case.reading, case.original, known, own=case.own, dealt=case.dealt, threads=case.threads)
        before = profile(case.raw, case.original, known, threads=case.threads)
        return LinkageResult(
            known=known,
            rows=case.original.rows,
            before=_at(before, p),
            after=_at(after, p),
            baseline=case.baseline(),
            told=case.reading.story + P_MATCH_STORY.format(p=p) + case.by_rows,
            posterior=case.reading.posterior,
            p_match=p,
            profile=after,
            raw_profile=before,
        )


def _with_chance(found: Disclosure, chance: NDArray[np.float64] | None) -> Disclosure:
    """The same where a person's own row is among those that fit by ``chance`` only."""
    return found if chance is None else replace(found, found=chance * found.identity)


def _of_values(found: Disclosure, name: str) -> NDArray[np.float64]:
    """Belief in the value of everybody who has one."""
    return found.of_values(name, found.attribute[name])


def _at(found: Profile, p: float) -> Disclosure:
    identity, matches, attribute, hits = found.at(p)
    return Disclosure(matches, attribute, hits, identity)
