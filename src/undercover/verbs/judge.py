"""Judge: what the attacks of the report do to people, held against the limits of a policy.

A limit that is exceeded stops the release. Something that nobody knows (what a person is, whether a column was thought
of, whether a plug-in is as safe as it says) is for the holder to decide.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercover.arrays import count, crossed, numbered, tally
from undercover.errors import ParameterError, UnreachableError, listed, unknown
from undercover.forms.case import Case
from undercover.model.figures import baseline, counted, number, risk
from undercover.model.policy import MISSING, Policy
from undercover.model.run import Run
from undercover.model.table import EncodedColumn, Table
from undercover.model.verdict import INFERENCE, LINKABILITY, SINGLING_OUT, Counted, Exposure, Reason, Verdict, Weight
from undercover.verbs.advice import larger_groups, mixed_values
from undercover.verbs.unknowns import algorithm, unknowns

_ROUNDING = 1e-9
EARLIER = "earlier releases"
"""The kind of a reason about people who were published before."""
_AS_THEY_ARE = (
    "The method publishes quasi-identifiers as they are: choose one that generalises or moves them. Who accepts that "
    "rows are found lifts `found` and `singled_out` in the policy."
)


def check_policy(policy: Policy, table: Table, *, asked: bool) -> None:
    """Refuse a policy that speaks of columns or values the table does not have.

    Where somebody ``asked`` for it, also one that no release of so few people can meet.
    """
    problems = []
    for name, values in policy.harmful.items():
        if name not in table.schema.sensitive:
            problems.append(unknown("Sensitive column", name, table.schema.sensitive))
            continue
        possible = {label or MISSING for label in table[name].domain.labels}
        possible |= {*(table.schema.column(name).domain or ()), *([""] if table[name].domain.has_missing else [])}
        problems += [
            f"The harmful value `{value}` does not occur in `{name}`, nor in its declared domain. Write it as the "
            "table does, or leave it out."
            for value in values
            if value not in possible
        ]
    if problems:
        raise ParameterError(problems)
    people = _count(table)
    if asked and policy.presence_known and policy.found is not None and policy.found * people < 1:
        raise UnreachableError(
            f"The policy allows a row to be found with at most {risk(float(policy.found))}, and there are {people:,} "
            f"people: whoever guesses finds one with {risk(1 / people)}. Nearest: found = {1 / people:.3g}.",
            best={"found": 1 / people},
        )


def judge(run: Run) -> Verdict:
    """The verdict over a run that still knows its original, by the attacks its report shows."""
    policy = run.policy
    if run.original is None:
        what = "what happens to people: the original table is not at hand, and the run was saved before verdicts were"
        return Verdict(policy, (_unjudged("original", what, ""),))
    if not policy.judges:
        return Verdict(policy, (Reason(kind="policy", weight="note", text="Nothing was judged: the policy is none."),))
    attacks = (*run.attacks, *run.beside)
    judged = _Judged(policy, Case.of(run), tuple(each for found in attacks for each in found.exposures()))
    limits = (*judged.found(), *judged.exposed(), *judged.singled_out(), *judged.membership(), *algorithm(run))
    asked = (Reason(kind="not judged", weight="ask", text=text) for each in attacks for text in each.open_questions())
    return Verdict(policy, (*limits, *published_before(run), *asked, *unknowns(run, judged.case.original)))


def published_before(run: Run) -> Iterator[Reason]:
    """What does not hold, or is not decided, for people who are in earlier releases, too."""
    earlier = run.diagnostics.get("earlier", {})
    leave = "Leave out people who were published before, or publish the same table once."
    know = (
        "Leave out people who were published before; if nobody knows who they are, name an identifier of both tables."
    )
    weights: tuple[tuple[str, Weight, str], ...] = (
        ("does_not_hold", "stop", leave),
        ("exceeded", "stop", leave),
        ("not_decided", "ask", know),
    )
    for key, weight, change in weights:
        for text in earlier.get(key, ()):
            yield Reason(kind=EARLIER, weight=weight, text=text, regulator=LINKABILITY, change=change)


@dataclass(frozen=True)
class _Judged:
    """The people of a table, what attacks reach on them, and what may be reached."""

    policy: Policy
    case: Case
    exposures: tuple[Exposure, ...]

    @property
    def method(self) -> Any:
        """The very method that made the release, where it is at hand."""
        return None if self.case.run is None else self.case.run.method

    @cached_property
    def persons(self) -> NDArray[np.int64] | None:
        """(n_rows,) number of the person of each row; ``None`` where every row is one."""
        return _persons(self.case.original)

    @cached_property
    def people(self) -> int:
        """How many there are."""
        return _count(self.case.original)

    def who(self, rows: NDArray[np.int64], hit: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The people among the input rows that something was found of."""
        places = self.case.original.places(rows[hit])
        return np.unique(places if self.persons is None else self.persons[places])

    def found(self) -> Iterator[Reason]:
        """How surely somebody's row is found."""
        limit = self.policy.found
        if limit is None:
            return
        most = float(limit) + _ROUNDING
        allowed = f"at most {baseline(float(limit))} is allowed"
        judged = [each for each in self.exposures if each.population is not self.policy.presence_known]
        by_person = [each for each in judged if each.found is not None]
        if not self.policy.presence_known and not by_person:
            what = "how likely a row is found among the people of the population: say `weight` or `population`"
            yield _unjudged("found", what, SINGLING_OUT)
            return
        over = Counted.of(
            self.people, [(one, self.who(one.rows, one.found > most)) for one in by_person if one.found is not None]
        )
        if over.people:
            worst = max(float(each.found.max(initial=0)) for each in by_person if each.found is not None)
            yield Reason(
                kind="found",
                weight="stop",
                text=f"{over}: their row is found with up to {risk(worst)}; {allowed}.",
                people=over.people,
                regulator=SINGLING_OUT,
                change=self._smaller(limit),
                attack=over.attack,
                limit=float(limit),
                actual=worst,
            )
        elif any(each.of is not None and not _within(each.found_at_most, most) for each in by_person):
            yield _unlooked("found", f"whose row is found with more than {baseline(float(limit))}", over, SINGLING_OUT)
        if not over.people and any(each.estimated for each in by_person):
            yield _estimated(
                "found", f"that nobody's row is found with more than {baseline(float(limit))}", SINGLING_OUT
            )
        yield from (reason for each in judged for reason in self._rate(each, most, allowed))
        if not by_person:  # a rate over everybody says nothing about the worst off
            what = (
                "how likely any single person's row is found: no attack that tells applies, or was run on so many rows"
            )
            yield _unjudged("found", what, SINGLING_OUT)

    def _smaller(self, limit: float | Fraction) -> str:
        """What to do about people who are found: where columns stay as they are, no group hides anybody."""
        unchanged = [name for name in self._unchanged() if name in self.case.original.schema.insensitive]
        if unchanged:
            which, them = ("a quasi-identifier", "it") if len(unchanged) == 1 else ("quasi-identifiers", "them")
            return f"Make {listed(unchanged)} {which}, or drop {them}: published unchanged, no group hides anybody."
        if self._unchanged():
            return _AS_THEY_ARE
        return larger_groups(self.method, int(-(-1 // limit)))

    def _rate(self, exposure: Exposure, most: float, allowed: str) -> Iterator[Reason]:
        """An attacker whose luck with one draw is all that is known."""
        ends = exposure.interval
        if exposure.rate is None or max(exposure.rate, (ends or (0, 0))[1]) <= most:
            return
        sure = (ends or (exposure.rate, 0))[0] > most
        about = "" if ends is None else f" (of a sample; {baseline(ends[0])} to {risk(ends[1])})"
        yield Reason(
            kind="found",
            weight="stop" if sure else "ask",
            text=f"{risk(exposure.rate)} of all people are found by the attack `{exposure.attack}`{about}; {allowed}.",
            people=round(exposure.rate * self.people),
            regulator=SINGLING_OUT,
            change="Move values further, or ask for larger groups.",
            attack=exposure.attack,
            limit=most - _ROUNDING,
            actual=exposure.rate,
        )

    def exposed(self) -> Iterator[Reason]:
        """Whose true sensitive value is believed, and more than without the release."""
        if self.policy.belief is None:
            return
        names = self.case.original.schema.sensitive
        ways = dict.fromkeys(["", *(each.joint for each in self.exposures)])  # with which other tables, if any
        found = {(name, joint): self._exposed_by(name, joint) for name in names for joint in ways}
        anybody = Counted.together([one.counting for one in found.values()], self.people)
        limit = float(self.policy.exposed)
        stops = anybody.share > limit + _ROUNDING
        if anybody.drawn_from and not stops and anybody.ends[1] > limit and not all(map(self._bounded, names)):
            yield _unlooked("exposed", "whose sensitive value is believed so surely", anybody, INFERENCE)
        for (name, joint), one in found.items():
            if not one.believed.people:
                continue
            if joint and one.counting.people <= found[name, ""].counting.people:  # nobody more than without
                continue
            yield Reason(
                kind="exposed",
                weight="stop" if stops and one.counting.people else "note",
                text=self._exposed_text(name, one, joint),
                people=one.counting.people,
                regulator=INFERENCE,
                change=mixed_values(self.method, name) if one.counting.people else "",
                attack=one.counting.attack or one.believed.attack,
                limit=limit,
                actual=one.counting.share,
                column=name,
                certain=one.certain,
                excused=one.excused,
                highest=one.highest,
            )
        for known, who_knows in ((False, ""), (True, " by somebody who knows the value of one other person")):
            alone = [each for each in self.exposures if each.known_values is known and not each.joint]
            judged = {name for each in alone for name in each.belief}
            left = [name for name in names if name not in judged]
            if left and (self.policy.known_values or not known):
                yield _unjudged(
                    "exposed",
                    f"what is learnt of {listed(left)}{who_knows}: no attack that weighs it by what the release "
                    "publishes of its own law applies, or was run on so many rows",
                    INFERENCE,
                )

    def _exposed_text(self, name: str, found: _Exposed, joint: str) -> str:
        """For how many people a column can be inferred, who of them is excused, and what the policy allows."""
        believed, counting = found.believed, found.counting.people
        belief = baseline(float(self.policy.belief or 0))
        sure = "certainty" if found.certain == believed.people else f"{belief} or more"
        about = ["harmful values only"] if name in self.policy.harmful else []
        about += [f"{number(found.certain)} with certainty"] if 0 < found.certain < believed.people else []
        who = str(believed)
        beside = f" {joint}" if joint else ""
        text = f"`{name}` can be inferred{beside} with {sure} for {who[0].lower()}{who[1:]}"
        text += f" ({'; '.join(about)})." if about else "."
        if found.excused:
            gain = float(self.policy.gain)
            adds = f"the release adds less than {100 * gain:g} points to" if gain else "the release takes away from"
            some = f"{number(found.excused)} of them" if counting else "All of them"
            text += f" {some} are excused: {adds} what the whole table says."
            text += f" {number(counting)} count." if counting else " Nobody counts."
        if not counting:
            return text
        allowed = f"{baseline(float(self.policy.exposed))} of all people" if self.policy.exposed else "nobody"
        return f"{text} The policy allows {allowed}."

    def _bounded(self, name: str) -> bool:
        """Whether nobody's value of a column can be believed as surely as the policy forbids, looked at or not."""
        sampled = [each for each in self.exposures if each.of is not None and name in each.belief]
        least = float(self.policy.belief or 0) - 2 * _ROUNDING
        return all(_within(each.belief_at_most.get(name), least) for each in sampled)

    def _exposed_by(self, name: str, joint: str) -> _Exposed:
        """The people of whom a column can be inferred, alone or with other tables, and who of them counts.

        A value that the policy names counts as soon as it is certain; any other, where the release adds enough to the
        belief that the whole table gives.
        """
        original, belief, gain = self.case.original, float(self.policy.belief or 0), float(self.policy.gain)
        column = original[name]
        prior, harmful = _prior(column), harmful_values(column, self.policy)
        is_named = name in self.policy.harmful
        believed: list[tuple[Exposure, NDArray[np.int64]]] = []
        counting: list[tuple[Exposure, NDArray[np.int64]]] = []
        certain: list[tuple[Exposure, NDArray[np.int64]]] = []
        highest = 0.0
        for each in self.exposures:
            if name not in each.belief or each.joint != joint:
                continue
            if each.known_values and not self.policy.known_values:
                continue
            codes = column.codes[original.places(each.rows)]
            found = each.belief[name]
            gained = found - each.prior.get(name, prior[codes])
            over = harmful[codes] & (found >= belief - _ROUNDING)
            sure = found > 1 - _ROUNDING
            hit = over & ((gained >= gain - _ROUNDING) | (is_named & sure))
            for kept, which in ((believed, over), (counting, hit), (certain, over & sure)):
                kept.append((each, self.who(each.rows, which)))
            highest = max(highest, float(found[over].max(initial=0.0)))
        return _Exposed(
            believed=Counted.of(self.people, believed),
            counting=Counted.of(self.people, counting),
            certain=Counted.of(self.people, certain).people,
            highest=highest,
        )

    def singled_out(self) -> Iterator[Reason]:
        """Who is the only one with the values in the columns that are published as they are."""
        limit, original = self.policy.singled_out, self.case.original
        if limit is None:
            return
        unchanged = self._unchanged()
        if not unchanged:
            return
        alone = _alone([original[name] for name in unchanged], self.persons)
        if alone / self.people > float(limit) + _ROUNDING:
            yield Reason(
                kind="singled out",
                weight="stop",
                text=f"{counted(alone, 'person', 'people')}: singled out by {listed(unchanged)}, published unchanged.",
                people=alone,
                regulator=SINGLING_OUT,
                change="Make them quasi-identifiers of a method that generalises or moves them, or drop them."
                if original.schema.insensitive
                else _AS_THEY_ARE,
                limit=float(limit),
                actual=alone / self.people,
            )

    def _unchanged(self) -> list[str]:
        """Columns that are published as they are: insensitive ones and quasi-identifiers that stay, unless permuted."""
        main = self.case.reading.main
        if self.case.reading.permuted:
            return []
        stay = (
            [n for n in main.names("quasi-identifier") if main.form(n) == "value"] if self.case.reading.covers else []
        )
        return [name for name in (*main.names("insensitive"), *stay) if name in self.case.original.columns]

    def membership(self) -> Iterator[Reason]:
        """How surely it is learnt that somebody is in the table."""
        limit = self.policy.membership
        if limit is None:
            return
        judged = [each for each in self.exposures if each.membership is not None]
        if not judged:
            what = "how surely somebody's presence is learnt: say `weight` or `population` in the schema"
            yield _unjudged("membership", what, LINKABILITY)
        for each in judged:
            assert each.membership is not None
            who = self.who(each.rows, each.membership > float(limit) + _ROUNDING)
            if len(who):
                worst = float(each.membership.max())
                yield Reason(
                    kind="membership",
                    weight="stop",
                    text=f"{counted(len(who), 'person', 'people')}: that they are in the table is believed with up to "
                    f"{risk(worst)}; at most {baseline(float(limit))} is allowed.",
                    people=len(who),
                    regulator=LINKABILITY,
                    change="Publish a smaller sample of the population, or coarser quasi-identifiers.",
                    attack=each.attack,
                    limit=float(limit),
                    actual=worst,
                )
            elif each.estimated:
                what = f"that nobody's presence is believed with more than {baseline(float(limit))}"
                yield _estimated("membership", what, LINKABILITY)


def _within(bound: float | None, most: float) -> bool:
    return bound is not None and bound <= most


def _unlooked(kind: str, what: str, found: Counted, regulator: str) -> Reason:
    """Of a sample nothing was found that stops, and not everybody was looked at."""
    return Reason(
        kind=kind,
        weight="ask",
        text=f"Of {number(found.drawn_from)} people drawn from {number(found.everybody)} there are "
        f"{number(len(found.drawn))} {what}; it may be up to {number(round(found.ends[1] * found.everybody))} "
        "of all (95%).",
        people=found.people,
        regulator=regulator,
        change="Look for more of them (undercover attack DIR --attacker linkage --set most=N), or ask for what bounds "
        "it for everybody.",
    )


def _estimated(kind: str, what: str, regulator: str) -> Reason:
    """A limit that an estimate of the population does not exceed, and cannot be judged by."""
    return Reason(
        kind=kind,
        weight="ask",
        text=f"It cannot be judged {what}: how many people of the population fit a row was estimated from a share or "
        "from weights, and the risk that follows from an estimate errs low.",
        regulator=regulator,
        change="Give a table of the population (`population = FILE`), or judge as if it were known who is in the table "
        "(`presence_known = true`).",
    )


def _unjudged(kind: str, what: str, regulator: str) -> Reason:
    return Reason(kind=kind, weight="ask", text=f"Nobody judged {what}.", regulator=regulator)


@dataclass(frozen=True)
class _Exposed:
    """Of whom a column can be inferred, as surely as the policy forbids; and who of them it counts."""

    believed: Counted
    counting: Counted
    certain: int  # of those believed
    highest: float  # belief in the value of anybody of them

    @property
    def excused(self) -> int:
        """How many would count if the policy asked for no gain."""
        return max(self.believed.people - self.counting.people, 0)


def harmful_values(column: EncodedColumn, policy: Policy) -> NDArray[np.bool_]:
    """(n_values,) which values of a column must not be learnt; a missing one only if the policy names it."""
    named, labels = policy.harmful.get(column.name), column.domain.labels
    found = np.array([named is None or label in named for label in labels], dtype=bool)
    if (missing := column.domain.missing_code) is not None:
        found[missing] = named is not None and (
            labels[missing] in named or (MISSING in named and MISSING not in labels)
        )
    return found


def _prior(column: EncodedColumn) -> NDArray[np.float64]:
    """(n_values,) the share of each value among all values; of a missing one, among all rows."""
    times, missing = count(column.codes, column.domain.size), column.domain.missing_code
    gone = 0 if missing is None else int(times[missing])
    shares: NDArray[np.float64] = times / max(len(column.codes) - gone, 1)
    if missing is not None:
        shares[missing] = gone / len(column.codes)
    return shares


def _persons(table: Table) -> NDArray[np.int64] | None:
    return None if table.units is None else np.unique(table.units, return_inverse=True)[1]


def _count(table: Table) -> int:
    persons = _persons(table)
    return table.n_rows if persons is None else int(persons.max(initial=-1)) + 1


def _alone(columns: Sequence[EncodedColumn], persons: NDArray[np.int64] | None) -> int:
    """How many people are the only ones with their values in some columns."""
    keys: NDArray[np.integer] = columns[0].codes
    span = columns[0].domain.size
    for column in columns[1:]:
        if span * column.domain.size >= 1 << 62:
            keys, first = numbered(keys)
            span = len(first)
        keys, span = crossed(keys, span, column.codes, column.domain.size), span * column.domain.size
    if persons is None:
        return int((tally(keys.copy() if len(columns) == 1 else keys, span)[1] == 1).sum())
    keys, first = numbered(keys)
    pairs = np.unique(np.stack([keys, persons]), axis=1)
    alone = np.bincount(pairs[0], minlength=len(first)) == 1
    return len(np.unique(persons[alone[keys]]))
