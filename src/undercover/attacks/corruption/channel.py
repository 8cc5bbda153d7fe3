"""The corruption-aided attack on everybody: each person in turn is the victim, more and more others are corrupted.

Tao, Xiao, Li & Zhang, "On Anti-Corruption Privacy Preserving Publication", Sections V and VI, in numbers for whole
tables; :mod:`undercover.attacks.corruption.belief` has the same for one victim in fractions. Beside it stands the same
attacker before the same cells published in the ordinary way, with everybody's true value: there he is certain in the
end (Lemma 2).

The property whose confidence rises most is "has the value seen", for every other value only becomes less likely
(Theorem 1). So the growth given here is the largest over all properties there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated, Any, ClassVar, get_args

import numpy as np
from numpy.typing import NDArray

from undercover.arrays import count, rows_where
from undercover.attacks.corruption.belief import Belief, Prior, generalized_belief, perturbed_belief
from undercover.attacks.corruption.cells import NO_CHANNEL, CellView, PriorName, in_cell
from undercover.attacks.sampled import EVERYBODY, SAMPLE
from undercover.attacks.views import confidence_chart, growth_chart
from undercover.errors import ParameterError
from undercover.exact import Number, exact
from undercover.forms import read
from undercover.forms.case import Case
from undercover.guarantees.breach.bounds import Bound
from undercover.model.channel import Channel
from undercover.model.figures import number
from undercover.model.protocols import Effort, Progress, no_progress
from undercover.model.release import Release
from undercover.model.table import Table
from undercover.model.verdict import Exposure
from undercover.model.view import Figure, Part, Verdict, View, Viewable, facts, say, table
from undercover.parameters import Within, check
from undercover.randomness import Randomness

_ORDINARY = (
    "Had the same cells been published in the ordinary way, with everybody's true value, the same attacker would know:"
)
PRIOR_WORDS = {"uniform": "nothing", "overall": "the overall shares", "worst": "what helps him most"}
PRIORS: tuple[PriorName, ...] = get_args(PriorName)
STORY = (
    "The attacker knows who is in the table with which quasi-identifiers, and has learnt the sensitive values of some "
    "of them, up to everybody's but the victim's. He finds the victim's cell, works out how likely its one published "
    "row is the victim's own, and draws his conclusions by Bayes' rule."
)


@dataclass(frozen=True)
class CorruptionResult(Viewable):
    """Every person as the victim, for several priors and shares of corrupted others."""

    people: int
    noise: Channel = field(repr=False)
    smallest: int
    sweep: tuple[Mapping[str, Any], ...]
    plain: tuple[Mapping[str, Any], ...]
    skew: float
    bound: Bound
    one_known: Exposure = field(repr=False)

    def exposures(self) -> tuple[Exposure, ...]:
        """What is believed of everybody's value by somebody who knows that of one other."""
        return (self.one_known,)

    @property
    def worst_growth(self) -> float:
        """The largest rise of confidence that was found."""
        return max(float(entry["growth"]["max"]) for entry in self.sweep)

    @property
    def within_bounds(self) -> bool:
        """Whether no confidence rose by more than is promised for its prior."""
        return all(entry["growth"]["max"] <= entry["bound"] * (1 + 1e-9) for entry in self.sweep)

    def to_dict(self) -> dict[str, Any]:
        """Figures for reports."""
        return {
            "attack": "corruption",
            "story": STORY,
            "targets": self.people,
            **({} if self.one_known.of is None else {"of": self.one_known.of}),
            "p": float(self.noise.p),
            "domain": self.noise.size,
            "smallest_cell": self.smallest,
            "skew": self.skew,
            "worst_growth": self.worst_growth,
            "within_bounds": self.within_bounds,
            "sweep": [dict(entry) for entry in self.sweep],
            "plain": [dict(entry) for entry in self.plain],
        }

    def view(self) -> View:
        """How far confidence rises, beside the same cells with everybody's true value."""
        found = self.to_dict()
        most = max(entry["share"] for entry in found["sweep"])
        plain = next(entry for entry in found["plain"] if entry["share"] == most)
        at_most = [entry for entry in found["sweep"] if entry["share"] == most]
        seen = next((entry for entry in at_most if entry["prior"] == "overall"), at_most[0])
        true, released, prior = plain["confidence"], seen["confidence"], seen["baseline"]
        worst = max(found["sweep"], key=lambda entry: float(entry["growth"]["max"]))
        kept = found["within_bounds"]
        compared = [
            ("sure of the true value, worst case", true["max"], released["max"], prior["max"]),
            ("sure of the true value, on average", true["mean"], released["mean"], prior["mean"]),
            ("people whose value is certain", plain["certain_rows"], seen["certain_rows"], None),
        ]
        sweep = [
            (
                Figure(entry["share"], "risk"),
                PRIOR_WORDS[entry["prior"]],
                entry["growth"]["max"],
                entry["bound"],
                entry["baseline"]["max"],
                entry["confidence"]["max"],
            )
            for entry in found["sweep"]
        ]
        ordinary = [
            (Figure(entry["share"], "risk"), entry["confidence"]["mean"], entry["certain_rows"])
            for entry in found["plain"]
        ]
        people = "{count}, each the victim once, in cells of at least {count}"
        if "of" in found:
            people = (
                f"{{count}} of {number(found['of'])}, all those of cells drawn at random, of at least {{count}} each"
            )
        share = "others corrupted"
        parts: tuple[Part, ...] = (
            facts(
                ("people", say(people, found["targets"], found["smallest_cell"])),
                ("confidence rises", say("by {risk} at worst", found["worst_growth"])),
                ("promised there", say("by {risk} at most", worst["bound"])),
                ("shown for", say("{risk} of the others corrupted, prior: {plain}", most, PRIOR_WORDS[seen["prior"]])),
            ),
            table(("the attacker", "true values", "release", "prior"), "plain before risk baseline", compared),
            partial(growth_chart, found),
            table(
                (share, "he believes beforehand", "surer by, worst", "promised", "sure before", "sure after"),
                "risk plain risk risk baseline risk",
                sweep,
                "Everybody as the victim, the worst of them",
                detail=1,
            ),
            f"{'No' if kept else 'A'} confidence rises by more than is promised. {_ORDINARY}",
            partial(confidence_chart, found),
            table(
                (share, "sure of the true value, mean", "people whose value is certain"),
                "risk risk count",
                ordinary,
                "The same cells published with everybody's true value",
                detail=1,
            ),
        )
        said: tuple[Verdict, str] = ("good", "within what is promised") if kept else ("bad", "more than is promised")
        following = "`.to_dict()` has every share and prior; `Corruption().victim` looks at one person."
        return View("corruption", "Corruption", parts, *said, found["story"], following, private=True)

    def __repr__(self) -> str:
        certain = self.plain[-1]["certain_rows"]
        return (
            f"<Corruption of {self.people:,} people: confidence rises by {self.worst_growth:.3f} at worst; of the same "
            f"cells with true values {certain:,} people become certain; .to_dict() has everything>"
        )


@dataclass(frozen=True, kw_only=True)
class Corruption:
    """An attacker who has learnt other people's values, before a release whose values went through a channel.

    Parameters
    ----------
    priors
        What he believes of a victim beforehand: ``uniform``, as ``overall`` in the table, or the ``worst`` there is.
    shares
        The shares of the others he has corrupted, one after the other.

    Examples
    --------
    >>> import undercover as uc
    >>> people, schema = uc.datasets.census(1000), uc.datasets.census_schema(["age", "sex"])
    >>> run = uc.publish(people, schema, uc.PerturbedGeneralization(k=6, p=0.3), seed=1)
    >>> found = uc.attack(run, Corruption(shares=(0, 1)))
    >>> found.within_bounds, found.plain[-1]["confidence"]["max"]
    (True, 1.0)
    """

    name: ClassVar[str] = "corruption"
    effort: ClassVar[Effort] = "report"
    slow: ClassVar[bool] = False

    priors: tuple[PriorName, ...] = PRIORS
    shares: tuple[Annotated[float, Within(0, 1)], ...] = (0.0, 0.25, 0.5, 0.75, 1.0)

    def __post_init__(self) -> None:
        check(self, self._problems())

    def _problems(self) -> Iterator[str]:
        if any(isinstance(given, tuple) and not given for given in (self.priors, self.shares)):
            yield "Corruption needs at least one prior and one share."

    def applies(self, case: Case) -> str | None:
        """Values went through a public channel."""
        return None if case.reading.channel is not None else NO_CHANNEL

    def run(self, case: Case, *, progress: Progress = no_progress) -> CorruptionResult:
        """Attack every row of the original, of very many those of some cells drawn at random.

        Who is corrupted, where it is not everybody, is a fixed choice.
        """
        (name,), drawn = case.original.schema.sensitive, _drawn_cells(case)
        original = case.original if drawn is None else case.original.take(drawn)
        view = CellView.of(original, case.reading, case.threads, whole=drawn is None)
        of, at_most = None, {}
        if drawn is not None:
            column = case.original[name]
            of, counts = case.original.n_rows, count(column.codes, column.domain.size)
            overall = np.zeros(view.noise.size)
            overall[[view.noise.code[label] for label in column.domain.labels]] = counts / of
            view = replace(view, overall=overall)
            at_most = {name: view.one_known_at_most()}
        skew, bound = _claimed(case.release)
        order = Randomness(0).words("corrupted", original.n_rows).argsort(kind="stable")
        rank = np.empty(original.n_rows, dtype=np.int64)
        rank[order] = np.arange(original.n_rows)
        sweep: list[Mapping[str, Any]] = []
        plain: list[Mapping[str, Any]] = []
        for share in self.shares:
            corrupted = rank < round(share * original.n_rows)
            plain.append({"share": share, **view.plain(corrupted)})
            sweep += [
                {"prior": prior, "share": share, **view.attacked(prior, corrupted, skew, bound)}
                for prior in self.priors
            ]
        belief = {name: view.one_known()}
        return CorruptionResult(
            people=original.n_rows,
            noise=view.noise,
            smallest=int(view.sizes.min()),
            sweep=tuple(sweep),
            plain=tuple(plain),
            skew=skew,
            bound=bound,
            one_known=Exposure(
                "corruption", original.rows, belief=belief, known_values=True, of=of, belief_at_most=at_most
            ),
        )

    def victim(
        self,
        original: Table,
        release: Release,
        row: int,
        *,
        corrupted: Sequence[int] | None = None,
        prior: Prior | None = None,
        external: Table | None = None,
        exposed: Sequence[int] | None = None,
    ) -> tuple[Belief, Belief]:
        """Attack one person exactly: through the release, and through the same cells with everybody's true value.

        ``row`` and ``corrupted`` are places in ``original``: the victim, and the people whose value he knows, by
        default everybody else. ``external`` are people beyond the table whom he knows to exist, with the same quasi-
        identifiers, and ``exposed`` those of them he knows not to be in it, by default all. His ``prior`` about the
        victim is uniform by default.
        """
        if not 0 <= row < original.n_rows:
            raise ParameterError(f"There is no row {row:,}: the table has {original.n_rows:,}.")
        reading = read(release)
        view = CellView.of(original, reading, 1)
        cell = int(view.cell[row])
        others = np.flatnonzero(view.cell == cell)
        others = others[others != row]
        known = set(others.tolist() if corrupted is None else corrupted)
        values = [view.noise.domain[view.own[other]] for other in others if other in known]
        outside = [] if external is None else np.flatnonzero(in_cell(external, reading, cell)).tolist()
        told = set(outside if exposed is None else exposed)
        undecided = sum(other not in known for other in others) + sum(person not in told for person in outside)
        everybody = [view.noise.domain[code] for code in view.own[view.cell == cell]]
        return (
            perturbed_belief(
                view.noise,
                size=int(view.sizes[cell]),
                seen=view.noise.domain[view.seen[cell]],
                prior=prior,
                corrupted=[*values, *(None for person in outside if person in told)],
                undecided=[prior] * undecided,
            ),
            generalized_belief(everybody, domain=view.noise.domain, prior=prior, corrupted=values),
        )


def _drawn_cells(case: Case) -> NDArray[np.int64] | None:
    """The rows of everybody in some cells, of very many people; ``None``: everybody, or nobody says who is in which."""
    run, n = case.run, case.original.n_rows
    if run is None or n <= EVERYBODY or len(run.groups.labels) != n:
        return None
    wanted = np.zeros(run.groups.count, dtype=bool)
    some = max(1, round(SAMPLE * run.groups.count / n))
    wanted[np.random.default_rng(0).choice(run.groups.count, some, replace=False)] = True
    return rows_where(wanted[run.groups.labels]).astype(np.int64)


def _claimed(release: Release) -> tuple[float, Bound]:
    """The skew and the form of the bound a release claims."""
    given: Number = release.parameters.get("skew", 1)
    bound: Bound = "paper" if release.parameters.get("bound") == "paper" else "tight"
    return float(exact(given)), bound
