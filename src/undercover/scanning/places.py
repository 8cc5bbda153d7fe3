"""Whether the places of rows tell whose they are: tests whose level and power are known, on the files as they are.

Rows that are published alike must stand in an order that has nothing to do with that of the input; where all other
columns were moved, so must all rows. Given who is in a class, every order of it is then equally likely, and three
things follow, whatever the table is:

- *Order.* Of two rows of a class, taken from its first and its second half, either may come first in the input. Pairs
  that share no row are independent, so those in the order of the input are a binomial number with chance 1/2 (the
  test for trend of Cox & Stuart 1955), bounded by Chernoff.
- *Links by place.* An attacker who takes the row at somebody's place in the input, or at his place within his class,
  for the person's is right about the sensitive value as often as chance has it: a sum over random permutations, whose
  upper tail is below exp(-t²/(4m + 2t)) at t beyond the mean m (Chatterjee 2007, Proposition 1.1; moment generating
  functions of independent classes multiply, so one bound serves their sum).
- *Numbers.* Numbers of buckets are drawn, so the first row of a bucket in the input says nothing about its number.

And *links by likeness*: an attack that the report made says how often the row it took was the right one (its rate). A
promise about identity bounds the chance of every person; groups are independent, and people inside one may be right or
wrong together, so Hoeffding's bound is taken over groups.

A test is made at one in a million. What it would find with 95 % is said with it: the share of rows whose order is kept,
or how much more often somebody is right.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from undercover import plugins
from undercover.arrays import count, numbered
from undercover.forms.reading import Reading
from undercover.forms.written import combine
from undercover.model.run import Run
from undercover.scanning.result import Leak, Looked

LEVEL = 1e-6
"""How often a test finds something where there is nothing."""

_SURE = 1.6448536269514722  # 95 % of a normal distribution lie below
_AT_ONCE = 1 << 18  # rows whose values are compared with chance together, and the rest of the last class
Rows = NDArray[np.integer[Any]]


def looked_at(run: Run, reading: Reading) -> Iterator[Looked | Leak]:
    """All that can be told of a release as it was written; what cannot, with the reason."""
    yield from _likeness(run)
    if run.original is None:
        yield Looked("order", "not the order of rows: the original is not at hand", done=False)
    elif run.release.parameters.get("used", {}).get("parts", 1) > 1:
        yield Looked("order", "not the order of rows: parts of the table follow each other", done=False)
    elif order_told(reading):
        yield Looked("order", "not the order of rows: the release says that it is the input's", done=False)
    else:
        own = owners(run, reading)
        if own is None:
            yield Looked("order", "not the order of rows: a row is not a person", done=False)
            return
        starts, by_owner = class_starts(reading), _in_order_of(own, len(run.rows))
        yield from _numbered(run, reading, own, by_owner)
        yield from _ordered(run.rows[own], starts)
        yield from _linked(run, reading, own, by_owner, starts)


def order_told(reading: Reading) -> bool:
    """Whether a release says itself that its rows stand in the order of the input."""
    return reading.one_each and reading.buckets is None and reading.own_rows(None) is not None


def owners(run: Run, reading: Reading) -> Rows | None:
    """(n_published,) the grouped row in each published row; ``None`` where a row is not a person."""
    rows = reading.main.rows
    if run.order is not None and len(run.order) == rows:
        return run.order
    places = reading.own_rows(run) if reading.one_each and reading.buckets is None else None
    if places is None or len(places) != rows:
        return None
    own = np.empty(rows, dtype=np.int64)
    own[places] = np.arange(rows)
    return own


def class_starts(reading: Reading) -> NDArray[np.int64]:
    """Where each run of rows begins that are published alike, and last where the table ends; one run if cells moved."""
    rows = reading.main.rows
    if not reading.covers or not rows:
        return np.array([0, rows])
    main = reading.main
    quasi, structure = main.names("quasi-identifier"), main.names("structure")
    as_they_are = all(main.form(name) == "value" for name in quasi)  # then a bucket hides who is who, or nothing does
    labels, _ = combine([reading.column(name) for name in (structure if structure and as_they_are else quasi)])
    return np.concatenate([[0], np.flatnonzero(labels[1:] != labels[:-1]) + 1, [rows]])


def _in_order_of(numbers: Rows, size: int) -> Rows:
    """Places by the numbers below ``size`` that stand there; those of equal numbers as they are."""
    from undercover.compiled.shuffle import counting_order

    found: Rows = counting_order(numbers.astype(np.int32), size)[0]
    return found


def in_order(numbers: Rows, starts: NDArray[np.int64]) -> tuple[int, int]:
    """Pairs of rows from the first and the second half of each class, and how many stand in the order of the input.

    >>> in_order(np.array([4, 7, 9, 3, 1, 0]), np.array([0, 4, 6]))
    (3, 1)
    """
    sizes = np.diff(starts)
    half = sizes // 2
    which = np.repeat(np.arange(len(sizes)), half)
    first = starts[which] + np.arange(len(which)) - np.repeat(np.cumsum(half) - half, half)
    return len(which), int((numbers[first] < numbers[first + (sizes - half)[which]]).sum())


def by_coin(pairs: int, same: int) -> tuple[float, float]:
    """A bound on the chance that so many of fair coins fall alike, and the share of kept order that would be found.

    >>> [round(figure, 3) for figure in by_coin(100, 50)], by_coin(40, 40)[0] < 1e-6, by_coin(40, 20)[1]
    ([1.0, 0.69], True, inf)
    """
    if not pairs:
        return 1.0, math.inf
    needed = math.log(2 / LEVEL) / pairs
    least = next((q for q in np.linspace(0.5, 1.0, 2001).tolist() if _divergence(q) >= needed), math.inf)
    kept = 2 * least - 1 + _SURE / math.sqrt(pairs)
    return min(1.0, 2 * math.exp(-pairs * _divergence(same / pairs))), kept if kept <= 1 else math.inf


def _divergence(share: float) -> float:
    """Of a coin with this chance from a fair one."""
    return sum(chance * math.log(2 * chance) for chance in (share, 1 - share) if chance > 0)


def by_place(right: int, mean: float, people: int) -> tuple[float, float]:
    """A bound on the chance of being right so often or more, and by how much more often it would be found.

    >>> [round(figure, 3) for figure in by_place(120, 100.0, 1000)], by_place(900, 100.0, 1000)[0] < 1e-6
    ([0.403, 0.106], True)
    """
    beyond, room = right - mean, -math.log(LEVEL)
    least = room + math.sqrt(room * room + 4 * room * mean)
    more = (least + _SURE * math.sqrt(mean)) / people
    return math.exp(-beyond * beyond / (4 * mean + 2 * beyond)) if beyond > 0 else 1.0, more if more <= 1 else math.inf


def _ordered(numbers: Rows, starts: NDArray[np.int64], what: str = "the order of rows") -> Iterator[Looked | Leak]:
    pairs, same = in_order(numbers, starts)
    chance, kept = by_coin(pairs, same)
    figures = {"pairs": pairs, "in_order": same, "chance": chance, **_power("kept", kept)}
    yield Looked("order", what, {**figures, "finds": _finds(f"an order that is kept for {kept:.1%} of the rows", kept)})
    if chance < LEVEL:
        way = "follows" if 2 * same > pairs else "reverses"
        yield Leak(
            "order", what, f"{what.capitalize()} {way} that of the input: {same:,} of {pairs:,} pairs stand in it."
        )


def _numbered(run: Run, reading: Reading, own: Rows, by_owner: Rows) -> Iterator[Looked | Leak]:
    """Numbers of buckets beside the first row of each in the input."""
    names = reading.main.names("structure")
    if run.buckets is None or not names:
        return
    bucket = reading.column(names[0])
    numbers = np.asarray(bucket.values.cast(pa.int64()))[bucket.codes[by_owner]]
    first = numbered(numbers)[1]  # of everybody by owner
    first = first[np.argsort(numbers[first])]
    yield from _ordered(run.rows[own[by_owner[first]]], np.array([0, len(first)]), "the numbers of buckets")


def _linked(
    run: Run, reading: Reading, own: Rows, by_owner: Rows, starts: NDArray[np.int64]
) -> Iterator[Looked | Leak]:
    """How often whoever goes by places is right about a sensitive value."""
    assert run.original is not None
    people = len(own)
    which = np.repeat(np.arange(len(starts) - 1, dtype=np.int32), np.diff(starts))
    by_class = by_owner[_in_order_of(which[by_owner], len(starts) - 1)]
    ways: dict[str, Rows | slice] = {"place in the table": slice(None), "place in the class": own[by_class]}
    del by_class
    places = run.original.places(run.rows)
    for name in reading.main.names("sensitive"):
        column, cells = run.original[name], reading.column(name, nan_is_missing=True)
        code_of = {label: code for code, label in enumerate(column.domain.labels)}
        shown = np.array([code_of.get(label, -1) for label in cells.labels], dtype=np.int32)[cells.codes]
        theirs = column.codes[places].astype(np.int32)
        for way, guessed in ways.items():
            values = theirs[guessed]
            right, mean = int((shown == values).sum()), _expected(which, shown, values, column.domain.size)
            chance, more = by_place(right, mean, people)
            figures = {"column": name, "right": right, "expected": mean, "people": people, "chance": chance}
            finds = _finds(f"whoever is right about {more:.1%} of the people more than by chance", more)
            yield Looked("links", f"links of `{name}` by {way}", {**figures, **_power("more", more), "finds": finds})
            if chance < LEVEL:
                said = f"Whoever goes by somebody's {way} is right about `{name}` for {right:,} of {people:,} people"
                yield Leak("links", name, f"{said}; chance has it {mean:,.0f} times.")


def _expected(which: Rows, shown: Rows, values: Rows, size: int) -> float:
    """How often published and guessed values agree on average, if every order of every class is as likely.

    Classes stand one behind the other in ``which``, so that some rows after the others are looked at.
    """
    cuts = [0]
    while cuts[-1] < len(which):
        end = min(cuts[-1] + _AT_ONCE, len(which)) - 1
        cuts.append(int(np.searchsorted(which, which[end], side="right")))
    return sum(_expected_of(which[a:b], shown[a:b], values[a:b], size) for a, b in pairwise(cuts))


def _expected_of(which: Rows, shown: Rows, values: Rows, size: int) -> float:
    """The same of some classes."""
    which = (which - which[0]).astype(np.int64)
    keys, times = np.unique(which * np.int64(size + 1) + shown, return_counts=True)
    others, other_times = np.unique(which * np.int64(size + 1) + values, return_counts=True)
    _, mine, theirs = np.intersect1d(keys, others, assume_unique=True, return_indices=True)
    sizes = count(which, int(which.max(initial=0)) + 1)[keys[mine] // (size + 1)]
    return float((times[mine] * other_times[theirs] / sizes).sum())


def _likeness(run: Run) -> Iterator[Looked | Leak]:
    """Attacks whose luck with one draw is known, beside what is promised of identity."""
    bound = promised(run)
    if bound is None or run.original is None or "attacks" not in run.__dict__:
        return
    for each in (exposure for found in run.attacks for exposure in found.exposures()):
        if each.rate is None or not len(each.rows):
            continue
        at = np.searchsorted(run.rows, each.rows)
        sizes = np.bincount(run.groups.labels[at])
        people, spread = len(each.rows), math.sqrt(float((sizes.astype(float) ** 2).sum()) / 2)
        beyond = each.rate * people - bound * people
        chance = math.exp(-((beyond / spread) ** 2)) if beyond > 0 else 1.0
        more = (math.sqrt(-math.log(LEVEL)) + _SURE / math.sqrt(2)) * spread / people
        figures = {"attack": each.attack, "rate": each.rate, "promised": bound, "people": people, "chance": chance}
        finds = _finds(f"whoever finds {more:.1%} of the rows more than is promised", more)
        text = f"rows that `{each.attack}` finds beyond what is promised"
        yield Looked("links", text, {**figures, **_power("more", more), "finds": finds})
        if chance < LEVEL:
            yield Leak(
                "links", each.attack, f"`{each.attack}` finds {each.rate:.1%} of all rows; promised: {bound:.1%}."
            )


def promised(run: Run) -> float | None:
    """The largest chance with which a row may be somebody's, by what the release promises of identity."""
    found = []
    for finding in run.verification.findings if run.verification is not None else ():
        if finding.name in plugins.names("guarantees") and finding.holds and finding.required:
            about = plugins.load("guarantees", finding.name)(**finding.parameters).covers()
            bound = float(finding.required) if finding.sense == "at most" else 1 / float(finding.required)
            found += [bound] if "identity" in about else []
    return min(found, default=None)


def _finds(what: str, figure: float) -> str:
    return f"with 95 %: {what}" if figure < 1 else "nothing for sure: there are too few rows to tell"


def _power(name: str, figure: float) -> dict[str, Any]:
    return {"level": LEVEL, f"found_95_{name}": None if math.isinf(figure) else figure}
