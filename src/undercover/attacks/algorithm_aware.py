"""The adversary who knows the algorithm: what does *this* release say, given how it came about?

He knows every person's quasi-identifiers and so who is in which group, the sensitive values of the table (not whose
they are), and the method with all its parameters; only its random draws are hidden from him. He goes through every way
in which the sensitive values may belong to the people, weighs each by the probability that the method would then have
published just what he sees, and adds up (Bayes' rule with a uniform prior). Methods/streamliner of the design, after
Wong et al. 2007 ("Minimality attack in privacy preserving data publishing") and Liu & Wang, "Privacy Streamliner".

He is given the groups themselves, although published cells may overlap so that somebody cannot tell which of two
groups a person is in: whoever sees less knows an average of what this one knows.

A method is *algorithm-safe* if this never tells more than the release alone, in which a person of a group of m rows
has a value that occurs c times in it with probability c/m; where values are drawn at random (perturbed generalization),
what they say by Bayes' rule had the cells been fixed beforehand. Exact, in fractions, for methods that list their
``outcomes``; for others the method is run on random tables many times, and every figure comes with an interval.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from undercover.attacks.views import WORST_ROWS
from undercover.engines.local import LocalEngine
from undercover.errors import ParameterError, UnreachableError
from undercover.forms.case import Case
from undercover.model.groups import DrawnCells, Seen, seen_groups
from undercover.model.protocols import Effort, Enumerable, Method, Progress, Weighing, no_progress
from undercover.model.table import Table
from undercover.model.view import Figure, Verdict, View, Viewable, facts, say, table
from undercover.multisets import distinct_orders
from undercover.parameters import AtLeast, Within, check
from undercover.randomness import Randomness

MOST_PEOPLE = 8
MOST_DRAWN = 6  # people, where published values are drawn
STORY = (
    "The attacker knows every person's quasi-identifiers, the list of sensitive values without names, and the method "
    "with its parameters. He goes through every way in which the values may belong to the people and weighs each by "
    "the probability that the method would then have published what he sees."
)


@dataclass(frozen=True)
class Inference:
    """What the adversary concludes about one person from one release."""

    row: int  # the person, by position in the table
    value: str
    posterior: Fraction | float  # with knowledge of the algorithm
    alone: Fraction  # from the release alone: share of the value in the person's group
    groups: tuple[tuple[tuple[int, ...], tuple[str, ...]], ...]  # the release: rows and values of every group
    interval: tuple[float, float]  # of the posterior; both ends equal where it is exact

    @property
    def gain(self) -> float:
        """By how much knowing the algorithm certainly changes the probability."""
        low, high = self.interval
        return max(low - float(self.alone), float(self.alone) - high, 0.0)


@dataclass(frozen=True)
class AlgorithmAwareResult(Viewable):
    """Every release the method can make of these values and people, seen by the adversary who knows it."""

    exact: bool
    people: int
    tables: int  # ways in which the values may belong to the people
    releases: int  # different releases the method may make of them
    refused: int  # tables of which it publishes nothing
    worst: Inference  # highest posterior
    largest_gain: Inference  # furthest from what the release alone says
    declared_safe: bool
    story: str = field(default=STORY, repr=False)

    @property
    def safe(self) -> bool:
        """Whether no posterior differs from what the release alone says (if sampled: not provably so)."""
        return self.largest_gain.gain == 0

    def to_dict(self) -> dict[str, Any]:
        """Figures for reports; private, for it names rows."""
        return {
            "attack": "algorithm-aware",
            "story": self.story,
            "exact": self.exact,
            "people": self.people,
            "tables": self.tables,
            "releases": self.releases,
            "refused": self.refused,
            "declared_safe": self.declared_safe,
            "safe": self.safe,
            "worst": _described(self.worst),
            "largest_gain": _described(self.largest_gain),
        }

    def view(self) -> View:
        """Whether knowing the algorithm helps, in the worst case and where it helps most."""
        found = self.to_dict()
        shown = (("surest of a value", found["worst"]), ("most beyond the release", found["largest_gain"]))
        rows = [
            (
                label,
                entry["release_alone"],
                Figure(entry["posterior"], "risk", interval=None if found["exact"] else entry["interval"]),
            )
            for label, entry in shown
        ]
        whose = [(label, entry["row"], entry["value"], entry["fraction"]) for label, entry in shown]
        lines: list[Any] = [
            ("people", found["people"]),
            ("tables tried", say("{count}, with {count} releases", found["tables"], found["releases"])),
            ("computed", "exactly" if found["exact"] else "from samples, with intervals"),
            ("declared safe", "yes" if found["declared_safe"] else "no"),
        ]
        if found["refused"]:
            lines.insert(2, ("nothing published of", say("{count} tables", found["refused"])))
        columns = ("", "row", "value", "probability")
        parts = (
            facts(*lines),
            table(("the attacker", "release alone", "with the algorithm"), "plain risk risk", rows),
            table(columns, "plain count plain plain", whose, WORST_ROWS, private=True, detail=1),
        )
        safe: tuple[Verdict, str] = (
            ("good", "it does not help") if found["safe"] else ("bad", "it tells more than the release alone")
        )
        following = "`.worst` says whose value and in which release."
        return View("algorithm-aware", "Knowing the algorithm", parts, *safe, found["story"], following, private=True)


@dataclass(frozen=True, kw_only=True)
class AlgorithmAware:
    """Attack a method on a tiny table, through every release it can make.

    Parameters
    ----------
    trials
        Runs of a method that does not list its outcomes.
    confidence
        That all intervals hold together, where the method is sampled.

    Examples
    --------
    Mondrian would have cut these six people in two, had the two of age 0 not been ill of the same disease:

    >>> import pyarrow as pa
    >>> from undercover import Mondrian, Schema, Streamliner, Table
    >>> data = pa.table({"age": [0, 0, 1, 1, 1, 1], "disease": ["flu", "flu", "cold", "gout", "rash", "ulcer"]})
    >>> table = Table.from_arrow(data, Schema(quasi_identifiers=["age"], sensitive="disease"))
    >>> found = AlgorithmAware().on(table, Mondrian(k=2, l=2, cut="median"))
    >>> found.safe, found.worst.posterior, found.worst.alone
    (False, Fraction(1, 1), Fraction(1, 3))
    >>> AlgorithmAware().on(table, Streamliner(l=2)).worst.posterior
    Fraction(1, 2)
    """

    name: ClassVar[str] = "algorithm-aware"
    effort: ClassVar[Effort] = "asked"
    slow: ClassVar[bool] = False

    trials: Annotated[int, AtLeast(1)] = 20_000
    confidence: Annotated[float, Within(0, 1, "()")] = 0.999

    def __post_init__(self) -> None:
        check(self)

    def applies(self, case: Case) -> str | None:
        """There are few people, one sensitive column, and a method to look at."""
        if case.made_by is None:
            return "Nobody says which method made this release. Attack the run."
        return self._refused(case.original, case.method)

    def run(self, case: Case, *, progress: Progress = no_progress) -> AlgorithmAwareResult:
        """Attack the method of a run, the very object that made it, on the people and values of its table."""
        return self.on(case.original, case.method)

    def on(
        self, table: Table, method: Method, *, randomness: Randomness | None = None, sample: bool = False
    ) -> AlgorithmAwareResult:
        """Attack ``method`` on the people and values of ``table``.

        ``randomness`` is for sampling, the operating system's by default; ``sample`` the method even if it lists its
        outcomes.
        """
        refused = self._refused(table, method)
        if refused is not None:
            raise ParameterError(refused)
        if isinstance(method, Enumerable) and not sample and _own_outcomes(method):
            return _enumerated(table, method)
        if isinstance(method, Weighing):
            raise ParameterError(f"{method.name} lists its outcomes: run the attack without sampling.")
        return self._sampled(table, method, randomness or Randomness())

    def _refused(self, table: Table, method: Method) -> str | None:
        if len(table.schema.sensitive) != 1:
            return "The algorithm-aware attack needs exactly one sensitive column."
        if table.n_rows > MOST_PEOPLE:
            return (
                f"The algorithm-aware attack goes through every table of the same values, which takes at most "
                f"{MOST_PEOPLE} people. Got {table.n_rows:,}. Give it a few rows that stand for the others."
            )
        if isinstance(method, Weighing) and table.n_rows > MOST_DRAWN:
            return (
                "Where values are drawn, the algorithm-aware attack goes through every value of every cell as well, "
                f"which takes at most {MOST_DRAWN} people. Got {table.n_rows}."
            )
        return None

    def _sampled(self, table: Table, method: Method, randomness: Randomness) -> AlgorithmAwareResult:
        codes = _sensitive_codes(table)
        found: dict[Seen, Counter[tuple[int, int]]] = defaultdict(Counter)
        seen: Counter[Seen] = Counter()
        refused = 0
        order = randomness.words("order of values", self.trials * table.n_rows).reshape(self.trials, table.n_rows)
        engine = LocalEngine(threads=1)
        for trial in range(self.trials):
            colours = codes[np.argsort(order[trial], kind="stable")]
            draws = Randomness(int(randomness.words("seeds", 1, start=trial)[0]))
            try:
                draft = method.anonymize(_with_values(table, colours), engine=engine, randomness=draws)
            except UnreachableError:
                refused += 1
                continue
            release = seen_groups(draft.groups.labels, colours)
            seen[release] += 1
            found[release].update(enumerate(colours.tolist()))
        figures = sum(len({*rows}) * len({*values}) for release in found for rows, values in release)
        doubt = math.log(2 * max(figures, 1) / (1 - self.confidence))
        inferences = (
            _inference(table, release, row, value, share, interval=_chernoff(share, total, doubt))
            for release, total in seen.items()
            for row, value, share in _posteriors(release, found[release], total)
        )
        return _result(table, method, inferences, exact=False, releases=len(found), refused=refused)


def _own_outcomes(method: object) -> bool:
    """Whether the outcomes listed are those of this method: not where a subclass changed how rows are grouped alone."""
    below: list[str] = []
    for kind in type(method).__mro__:
        if "outcomes" in vars(kind):
            return not any(callable(getattr(kind, name, None)) for name in below if not name.startswith("__"))
        below += vars(kind)
    return True


def _enumerated(table: Table, method: Enumerable) -> AlgorithmAwareResult:
    weights: dict[Any, dict[tuple[int, int], Fraction]] = {}
    totals: dict[Any, Fraction] = defaultdict(Fraction)
    refused = 0
    for colours in distinct_orders(_sensitive_codes(table).tolist()):
        chances: dict[Any, Fraction] = defaultdict(Fraction)
        try:
            for probability, release in method.outcomes(_with_values(table, np.array(colours))):
                chances[release] += probability
        except UnreachableError:
            refused += 1
            continue
        for release, probability in chances.items():
            totals[release] += probability
            weight = weights.setdefault(release, defaultdict(Fraction))
            for person in enumerate(colours):
                weight[person] += probability
    if isinstance(method, Weighing):
        inferences = _of_drawn_values(table, method, weights, totals)
    else:
        inferences = (
            _inference(table, release, row, value, share, interval=(float(share), float(share)))
            for release, total in totals.items()
            for row, value, share in _posteriors(release, weights[release], total)
        )
    return _result(table, method, inferences, exact=True, releases=len(totals), refused=refused)


def _of_drawn_values(
    table: Table,
    method: Weighing,
    weights: Mapping[DrawnCells, Mapping[tuple[int, int], Fraction]],
    totals: Mapping[DrawnCells, Fraction],
) -> Iterator[Inference]:
    """Where published values are drawn, the release alone says what they would say had the cells been fixed before."""
    labels = table[table.schema.sensitive[0]].domain.labels
    codes = _sensitive_codes(table).tolist()
    for release, total in totals.items():
        alone: dict[tuple[int, int], Fraction] = defaultdict(Fraction)
        for colours in distinct_orders(codes):
            chance = method.likelihood(_with_values(table, np.array(colours)), release)
            for person in enumerate(colours):
                alone[person] += chance
        # Every person has some value, so the weights of one of them add up to that of the release.
        likelihood = sum((alone[0, value] for value in sorted(set(codes))), Fraction(0))
        groups = tuple(sorted((tuple(sorted(rows)), (value,)) for rows, value in release))
        for row in range(table.n_rows):
            for value in sorted(set(codes)):
                posterior = weights[release].get((row, value), Fraction(0)) / total
                # Equal fractions round alike, so that equal means no gain.
                interval = (float(posterior), float(posterior))
                yield Inference(row, labels[value], posterior, alone[row, value] / likelihood, groups, interval)


def _posteriors(release: Seen, weight: Any, total: Any) -> Iterator[tuple[int, int, Fraction]]:
    """The probability of every value that a person's group holds."""
    for rows, values in release:
        for row in sorted(rows):
            for value in sorted(set(values)):
                yield row, value, Fraction(weight.get((row, value), 0)) / total


def _inference(
    table: Table, release: Seen, row: int, value: int, posterior: Fraction, *, interval: tuple[float, float]
) -> Inference:
    labels = table[table.schema.sensitive[0]].domain.labels
    (alone,) = (Fraction(values.count(value), len(values)) for rows, values in release if row in rows)
    # Equal fractions must not differ by how they round.
    if interval[0] == interval[1] and posterior == alone:
        interval = (float(alone), float(alone))
    groups = sorted((tuple(sorted(rows)), tuple(labels[code] for code in values)) for rows, values in release)
    return Inference(row, labels[value], posterior, alone, tuple(groups), interval)


def _result(
    table: Table, method: Any, inferences: Iterator[Inference], *, exact: bool, releases: int, refused: int
) -> AlgorithmAwareResult:
    every = list(inferences)
    if not every:
        raise UnreachableError("The method publishes nothing of any table with these values, so nothing is disclosed.")
    # The highest posterior, and among equals the one that the release alone shows least.
    worst = max(every, key=lambda found: (found.posterior, -found.alone, -found.row))
    counts = Counter(_sensitive_codes(table).tolist())
    tables = math.factorial(table.n_rows) // math.prod(math.factorial(count) for count in counts.values())
    return AlgorithmAwareResult(
        exact=exact,
        people=table.n_rows,
        tables=tables,
        releases=releases,
        refused=refused,
        worst=worst,
        largest_gain=max(every, key=lambda found: (found.gain, -found.row)),
        declared_safe=method.algorithm_safe,
    )


def _sensitive_codes(table: Table) -> NDArray[np.unsignedinteger[Any]]:
    return table[table.schema.sensitive[0]].codes


def _with_values(table: Table, codes: NDArray[Any]) -> Table:
    """The same people with other sensitive values."""
    name = table.schema.sensitive[0]
    column = replace(table[name], codes=codes.astype(table[name].codes.dtype))
    return replace(table, columns={**table.columns, name: column})


def _chernoff(share: Fraction, total: int, doubt: float) -> tuple[float, float]:
    """Where a probability lies that was seen as ``share`` in ``total`` draws: those with relative entropy below doubt.

    Chernoff's bound: a probability p shows a share q or one further away with at most exp(-total * KL(q, p)).
    """
    seen = float(share)

    def far(p: float) -> bool:
        entropy = (seen * math.log(seen / p) if seen else 0.0) + (
            (1 - seen) * math.log((1 - seen) / (1 - p)) if seen < 1 else 0.0
        )
        return total * entropy > doubt

    return _edge(far, 0.0, seen), _edge(far, 1.0, seen)


def _edge(far: Any, outside: float, inside: float) -> float:
    if outside == inside:
        return inside
    for _ in range(60):
        middle = (outside + inside) / 2
        if not 0 < middle < 1 or far(middle):
            outside = middle
        else:
            inside = middle
    return outside


def _described(found: Inference) -> dict[str, Any]:
    return {
        "row": found.row,
        "value": found.value,
        "posterior": float(found.posterior),
        "fraction": str(found.posterior),
        "release_alone": float(found.alone),
        "interval": list(found.interval),
        "groups": [{"rows": list(rows), "values": list(values)} for rows, values in found.groups],
    }
