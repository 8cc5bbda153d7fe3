"""The adversary who knows the algorithm: what does *this* release say, given how it came about?

He knows every person's quasi-identifiers and so who is in which group, the sensitive values of the table (not whose
they are), and the method with all its parameters; only its random draws are hidden from him. He goes through every way
in which the sensitive values may belong to the people, weighs each by the probability that the method would then have
published just what he sees, and adds up (Bayes' rule with a uniform prior). Methods/streamliner of the design, after
Wong et al. 2007 ("Minimality attack in privacy preserving data publishing") and Liu & Wang, "Privacy Streamliner".

He is given the groups themselves, although published cells may overlap so that somebody cannot tell which of two
groups a person is in: whoever sees less knows an average of what this one knows. Of a method that lists its outcomes he
is given the buckets as well, where rows of one group lie in several. Beside them he looks at everything else that is
published (:mod:`undercover.studies.algorithm_aware.watching`).

A method is *algorithm-safe* if this never tells more than the release alone, in which a person of a group of m rows
has a value that occurs c times in it with probability c/m; where values went through a public channel (perturbed
generalization), what they say by Bayes' rule had the cells been fixed beforehand. Who is in which group is weighed in
exact fractions for methods that list their ``outcomes``. The method itself is run many times on random tables, whether
it lists anything or not: what it does is compared with what it lists, and everything it publishes with whose values
were whose. Every sampled figure comes with an interval that holds for all of them together.

*Corruption-robust* is a method if besides that the values of people in other groups tell nothing about mine: he may
know the values of some (``known``). Within a group, l - c values remain to somebody who knows c of them.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from undercover.engines.local import LocalEngine
from undercover.errors import ParameterError, UnreachableError
from undercover.forms.case import Case
from undercover.model.protocols import Effort, Method, Progress, corruption_robust, lists_outcomes, no_progress
from undercover.model.table import Table
from undercover.multisets import distinct_orders
from undercover.parameters import AtLeast, Within, check
from undercover.randomness import Randomness
from undercover.studies.algorithm_aware.evidence import (
    Assignment,
    Base,
    Evidence,
    Figure,
    Grouped,
    ThroughChannel,
    chernoff,
    relative_entropy,
)
from undercover.studies.algorithm_aware.result import AlgorithmAwareResult, Inference
from undercover.studies.algorithm_aware.watching import (
    GROUPS,
    MESSAGE,
    REFUSAL,
    SUPPRESSION,
    base_of,
    misreported,
    nothing,
    suppressed,
    watch,
)
from undercover.verbs.publish import publish_table

MOST_PEOPLE = 8
MOST_DRAWN = 6  # people, where published values went through a channel
MOST_OUTCOMES = 400_000  # that are gone through; a method that lists more is only run
SHEETS = 100  # draws whose datasheet is looked at as well
FEW = 8  # draws from which nothing can be told
MOST_TRIALS = 1_000_000  # hours of work, and as much as is drawn at once
RARITY = 10  # power is stated for what one release in so many shows

Listed = dict[Assignment, dict[Any, Fraction]]
"""The probability of every outcome, by whose value is whose; nothing where the method refuses."""


@dataclass(frozen=True, kw_only=True)
class AlgorithmAware:
    """Attack a method on a tiny table, through everything it can publish.

    Parameters
    ----------
    trials
        Runs of the method, on tables of the same values drawn at random.
    confidence
        That no leak is found where there is none; all intervals hold together as surely.
    known
        Of how many other people the attacker may know the values.

    Examples
    --------
    Mondrian would have cut these six people in two, had the two of age 0 not been ill of the same disease:

    >>> import pyarrow as pa
    >>> from undercover import Mondrian, Schema, Streamliner, Table
    >>> data = pa.table({"age": [0, 0, 1, 1, 1, 1], "disease": ["flu", "flu", "cold", "gout", "rash", "ulcer"]})
    >>> table = Table.from_arrow(data, Schema(quasi_identifiers=["age"], sensitive="disease"))
    >>> found = AlgorithmAware(trials=200).on(table, Mondrian(k=2, l=2, cut="median"))
    >>> found.safe, found.worst.posterior, found.worst.alone
    (False, Fraction(1, 1), Fraction(1, 3))
    >>> AlgorithmAware(trials=200).on(table, Streamliner(l=2)).worst.posterior
    Fraction(1, 2)
    """

    name: ClassVar[str] = "algorithm-aware"
    effort: ClassVar[Effort] = "asked"
    slow: ClassVar[bool] = False

    trials: Annotated[int, Within(1, MOST_TRIALS)] = 2_000
    confidence: Annotated[float, Within(0, 1, "()")] = 0.999
    known: Annotated[int, AtLeast(0)] = 0

    def __post_init__(self) -> None:
        check(self)

    def applies(self, case: Case) -> str | None:
        """There are few people, one sensitive column, and a method to look at."""
        if case.made_by is None:
            return "Nobody says which method made this release. Attack the run."
        _ = case.method  # one that is not installed is refused before anything else
        return _refused(case.original)

    def run(self, case: Case, *, progress: Progress = no_progress) -> AlgorithmAwareResult:
        """Attack the method of a run, the very object that made it, on the people and values of its table."""
        return self.on(case.original, case.method, progress=progress)

    def on(
        self, table: Table, method: Method, *, randomness: Randomness | None = None, progress: Progress = no_progress
    ) -> AlgorithmAwareResult:
        """Attack ``method`` on the people and values of ``table``; ``randomness`` is the operating system's else."""
        refused = _refused(table)
        if refused is not None:
            raise ParameterError(refused)
        told = lists_outcomes(method, table) and _own_outcomes(method)
        listed = _listed(table, method) if told else None
        drawn = _Drawn(table, method, told)
        drawn.run(self.trials, randomness or Randomness(), progress)
        return self._concluded(table, method, listed, drawn)

    def _concluded(self, table: Table, method: Method, listed: Listed | None, drawn: _Drawn) -> AlgorithmAwareResult:
        sampled = [*drawn.seen.figures(self.known, FEW), *drawn.seen.pooled()]
        refusals = list(drawn.refusals.figures(self.known, FEW))
        proven = [] if listed is None else list(_weighed(listed, drawn.bases).figures(self.known))
        published = drawn.n_drawn - drawn.n_refused
        if not published and not proven and (listed is not None or drawn.n_drawn >= FEW):
            raise UnreachableError(
                "The method publishes nothing of any table with these values, so it tells nothing. "
                f"Its last words: {drawn.said}"
            )
        if published < FEW and not proven:
            raise ParameterError(
                f"AlgorithmAware learns from releases of a method that does not list what it may publish, and takes "
                f"at least {FEW} of them to tell anything. Got {published} from {drawn.n_drawn} runs. Raise 'trials'."
            )
        doubt = math.log(2 * max(len(sampled) + len(refusals), 1) / (1 - self.confidence))
        told = _told(table, doubt)
        leaks: dict[str, Inference] = {}
        for found in [
            *(told(figure, exact=True) for figure in proven),
            *(told(figure, exact=False) for figure in _leaking(sampled, doubt)),
        ]:
            if found.gain > 0 and (found.channel not in leaks or found.gain > leaks[found.channel].gain):
                leaks[found.channel] = found
        # Whatever is published shows the groups; what tells no more than they do is no leak of its own.
        by_groups = leaks[GROUPS].gain if GROUPS in leaks else 0.0
        leaks = {channel: found for channel, found in leaks.items() if channel == GROUPS or found.gain > by_groups}
        # Where it is listed, exact figures stand for the groups; else the surest that the draws bear out.
        surest = proven or [figure for figure in sampled if figure.channel == GROUPS]
        by_posterior = [told(figure, exact=bool(proven)) for figure in _highest(surest, doubt, exact=bool(proven))]
        every = [*by_posterior, *leaks.values()]
        worst = max(every, key=lambda found: (found.interval[0], found.posterior, -found.alone, -found.row))
        refused = [told(figure, exact=False) for figure in refusals]
        counts = Counter(_sensitive_codes(table).tolist())
        return AlgorithmAwareResult(
            exact=listed is not None,
            people=table.n_rows,
            tables=math.factorial(table.n_rows) // math.prod(math.factorial(count) for count in counts.values()),
            releases=len({*drawn.bases} if listed is None else {one for found in listed.values() for one in found}),
            refused=drawn.n_refused if listed is None else sum(not found for found in listed.values()),
            worst=worst,
            largest_gain=max([*leaks.values(), *by_posterior], key=lambda found: (found.gain, -found.row)),
            declared_safe=method.algorithm_safe,
            declared_robust=corruption_robust(method),
            known=self.known,
            draws=drawn.n_drawn,
            power=_power(published, doubt),
            rarity=RARITY,
            leaks=leaks,
            refusal=max(refused, key=lambda found: (found.posterior > found.alone, found.gain)) if refused else None,
            differs=drawn.misreported or (None if listed is None else _difference(listed, drawn, 1 - self.confidence)),
        )


def _refused(table: Table) -> str | None:
    if len(table.schema.sensitive) != 1:
        return "The algorithm-aware attack needs exactly one sensitive column."
    if table.n_rows > MOST_PEOPLE:
        return (
            f"The algorithm-aware attack goes through every table of the same values, which takes at most "
            f"{MOST_PEOPLE} people. Got {table.n_rows:,}. Give it a few rows that stand for the others."
        )
    return None


def _own_outcomes(method: object) -> bool:
    """Whether the outcomes listed are those of this method: not where a subclass changed how rows are grouped alone."""
    below: list[str] = []
    for kind in type(method).__mro__:
        if "outcomes" in vars(kind):
            return not any(callable(getattr(kind, name, None)) for name in below if not name.startswith("__"))
        below += vars(kind)
    return True


def _listed(table: Table, method: Any) -> Listed | None:
    """What the method says it may publish of every table; ``None`` where that is too much to go through."""
    listed: Listed = {}
    count = 0
    for colours in distinct_orders(_sensitive_codes(table).tolist()):
        chances: dict[Any, Fraction] = defaultdict(Fraction)
        try:
            for probability, release in method.outcomes(with_values(table, np.array(colours))):
                chances[release] += probability
                count += 1
                if count > MOST_OUTCOMES:
                    return None
        except UnreachableError:
            chances.clear()
        listed[colours] = dict(chances)
    return listed


class _Drawn:
    """The method run on tables of the same values, and what was seen of it."""

    def __init__(self, table: Table, method: Method, told: bool) -> None:
        self.table, self.method, self.told = table, method, told
        self.seen, self.refusals = Evidence(), Evidence()
        self.bases: dict[Any, Base] = {}  # what is listed -> what it says alone
        self.outcomes: Counter[tuple[Assignment, Any]] = Counter()
        self.n_drawn = self.n_refused = 0
        self.said = ""  # of the last refusal
        self.misreported: str | None = None  # what is wrong with the groups of a run

    def run(self, trials: int, randomness: Randomness, progress: Progress) -> None:
        codes, n_rows = _sensitive_codes(self.table), self.table.n_rows
        order = randomness.words("order of values", trials * n_rows).reshape(trials, n_rows)
        seeds = randomness.words("seeds", 2 * trials).reshape(trials, 2)
        for trial in range(trials):
            if trial % 16 == 0:
                progress("running the method", trial / trials)
            colours = codes[np.argsort(order[trial], kind="stable")]
            seed = int(seeds[trial, 0]) << 32 | int(seeds[trial, 1])
            self._once(tuple(colours.tolist()), with_values(self.table, colours), Randomness(seed))

    def _once(self, assignment: Assignment, table: Table, randomness: Randomness) -> None:
        self.n_drawn += 1
        try:
            run = publish_table(
                table, self.method, engine=LocalEngine(threads=1), randomness=randomness, self_tested=False
            )
        except Exception as error:  # whatever goes wrong is something that is seen
            self.n_refused += 1
            self.said = str(error)
            self.refusals.add(REFUSAL, "refused", nothing(assignment), assignment)
            self.refusals.add(MESSAGE, (type(error).__name__, str(error)), nothing(assignment), assignment)
            self.outcomes[assignment, None] += 1
            return
        self.misreported = self.misreported or misreported(run)
        base = base_of(run, table, assignment, buckets_told=self.told)
        if isinstance(base, ThroughChannel) and table.n_rows > MOST_DRAWN:
            raise ParameterError(
                "Where values went through a channel, the algorithm-aware attack goes through every value of every "
                f"cell as well, which takes at most {MOST_DRAWN} people. Got {table.n_rows}."
            )
        seen = base.listed
        base = self.bases.setdefault(seen, base)
        self.outcomes[assignment, seen] += 1
        for channel, observed in watch(run, base, sheet=self.n_drawn <= SHEETS):
            self.seen.add(channel, observed, base, assignment)
        self.seen.add(SUPPRESSION, suppressed(run, table), nothing(assignment), assignment)


def _weighed(listed: Listed, bases: dict[Any, Base]) -> Evidence:
    """The exact weights of everything listed, as multiples of one small probability."""
    evidence = Evidence()
    least = math.lcm(*{chance.denominator for chances in listed.values() for chance in chances.values()})
    for assignment, chances in listed.items():
        for release, chance in chances.items():
            weight = chance.numerator * (least // chance.denominator)
            evidence.add(GROUPS, (), _base(release, bases), assignment, weight)
    return evidence


def _base(release: Any, bases: dict[Any, Base]) -> Base:
    if release in bases:
        return bases[release]
    if all(isinstance(held, tuple) for _, held in release):
        return bases.setdefault(release, Grouped(release))
    some = next((base for base in bases.values() if isinstance(base, ThroughChannel)), None)
    if some is None:
        raise ParameterError("The method lists values that went through a channel, and never publishes any.")
    return bases.setdefault(release, replace(some, cells=release))


def _leaking(figures: Iterable[Figure], doubt: float) -> Iterable[Figure]:
    """Those of sampled figures that certainly differ from what the release alone says."""
    return (figure for figure in figures if figure.total * figure.divergence() > doubt)


def _highest(figures: list[Figure], doubt: float, *, exact: bool) -> list[Figure]:
    """A few that the highest posterior is among."""
    if exact:
        surest = min(figures, key=lambda one: (-one.posterior, one.alone, one.row))
        return [surest, max(figures, key=lambda one: abs(one.posterior - one.alone))]
    return [max(figures, key=lambda one: chernoff(one.posterior, one.total, doubt)[0])] if figures else []


def _told(table: Table, doubt: float) -> Any:
    """A function from figures to what is said of them."""
    labels = table[table.schema.sensitive[0]].domain.labels

    def told(figure: Figure, *, exact: bool) -> Inference:
        if exact:
            # Equal fractions must not differ by how they round.
            ends = (float(figure.posterior), float(figure.posterior))
        else:
            ends = chernoff(figure.posterior, figure.total, doubt)
        known = tuple((row, labels[value]) for row, value in figure.known)
        shown = figure.base.shown(labels)
        value = labels[figure.value]
        return Inference(figure.row, value, figure.posterior, figure.alone, shown, ends, figure.channel, known)

    return told


def _power(draws: int, doubt: float) -> float:
    """The shift of a probability of 1/2 that is found in what one release of ``RARITY`` shows, as surely as said.

    Twice the deviation that Chernoff's bound leaves to chance: once for what it must exceed to be called a leak, once
    for how far below its mean it may fall.
    """
    total = max(draws // RARITY, 1)
    low, high = 0.0, 0.5
    for _ in range(40):
        middle = (low + high) / 2
        if total * relative_entropy(0.5 + middle, 0.5) > doubt:
            high = middle
        else:
            low = middle
    return min(2 * high, 1.0)


def _difference(listed: Listed, drawn: _Drawn, doubt: float) -> str | None:
    """Where the method does what it does not list, or more or less often than it lists; ``None`` where it agrees."""
    tables: Counter[Assignment] = Counter()
    counts: Counter[Any] = Counter()
    for (assignment, seen), count in drawn.outcomes.items():
        tables[assignment] += count
        counts[seen] += count
        possible = seen in listed[assignment] if seen is not None else not listed[assignment]
        if not possible:
            what = "refuses a table of which it lists releases" if seen is None else "publishes what it does not list"
            return f"the method {what}"
    releases = {seen for chances in listed.values() for seen in chances}
    pairs = [(one, seen) for one, chances in listed.items() if tables[one] for seen in chances]
    limit = math.log(2 * max(len(releases) + len(pairs), 1) / doubt)
    compared = [(drawn.outcomes[pair], tables[pair[0]], float(listed[pair[0]][pair[1]])) for pair in pairs]
    for seen in releases:
        expected = sum((count * listed[one].get(seen, Fraction(0)) for one, count in tables.items()), Fraction(0))
        compared.append((counts[seen], drawn.n_drawn, float(expected / drawn.n_drawn)))
    for count, runs, chance in compared:
        if runs * relative_entropy(count / runs, chance) > limit:
            return f"one release came up in {count / runs:.1%} of {runs:,} runs, where {chance:.1%} is listed"
    return None


def _sensitive_codes(table: Table) -> NDArray[np.unsignedinteger[Any]]:
    return table[table.schema.sensitive[0]].codes


def with_values(table: Table, codes: NDArray[Any]) -> Table:
    """The same people with other sensitive values."""
    name = table.schema.sensitive[0]
    column = replace(table[name], codes=codes.astype(table[name].codes.dtype))
    return replace(table, columns={**table.columns, name: column})
