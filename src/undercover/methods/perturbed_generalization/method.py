"""Perturbed generalization: private even against somebody who knows everybody else's sensitive value.

Tao, Xiao, Li & Zhang, "On Anti-Corruption Privacy Preserving Publication", Section IV: keep each sensitive value with
probability p and otherwise draw it uniformly from the declared domain; generalise the quasi-identifiers into disjoint
cells of at least k rows; publish one random row of every cell, with the size of the cell in the column ``G``.

Deviations.

- The cells follow from quasi-identifiers and public weights alone. The paper cuts by the information gain of perturbed
  values, and then Theorem 3 does not hold (docs/theory has the counterexample). That way is ``labels="driven"``; it
  needs ``allow_unsafe`` and claims what holds for k = 1.
- With label-free cells only the sampled rows need to be perturbed: the order of the phases does not matter then.
- The domain is declared in the schema, as values or as bins of numbers. The paper takes the values that occur, which
  tells who is (not) in the table.
- p follows from the size of the smallest cell, which may be more than k, and is the largest that keeps the promise.
- Columns without a role of quasi-identifier or sensitive are not published: a row that can be recognised by them would
  have an owner.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from undercover.errors import DataError, InputError, ParameterError, SchemaError, listed
from undercover.exact import Number, exact, plain
from undercover.guarantees.breach.bounds import LIMITS_NOTHING, Bound, cell_size, checked_rho, growth_bound
from undercover.guarantees.breach.composition import growth_after, largest_p_after
from undercover.guarantees.breach.rho import DeltaGrowth, RhoBreach
from undercover.guarantees.disjoint import DisjointCells
from undercover.guarantees.k_anonymity import KAnonymity
from undercover.methods.perturbed_generalization.cells import (
    domain_codes,
    draw_rows,
    full_domain_partition,
    perturbed,
    published_rows,
    specialized,
    typed_domain,
)
from undercover.methods.perturbed_generalization.composing import spent
from undercover.methods.perturbed_generalization.domain import declared_domain, from_leaves, undeclared
from undercover.model.channel import Channel
from undercover.model.form import Perturbed
from undercover.model.groups import DrawnCells, Groups, drawn_cells
from undercover.model.protocols import Engine, Guarantee, OnParts, Progress, no_progress
from undercover.model.run import Draft, Earlier, Run, SamePeople, Shuffle
from undercover.model.schema import Schema
from undercover.model.table import Table
from undercover.parameters import AtLeast, Within, check
from undercover.randomness import Randomness
from undercover.steps.cutting.checks import require_rows
from undercover.steps.cutting.partition import Partition, partition
from undercover.steps.recoding import box_cells, region_cells
from undercover.wording import option, parameter

Way = Literal["mondrian", "specialize", "incognito"]
Labels = Literal["free", "driven"]
CellShape = Literal["regions", "boxes"]

ONE_RELEASE = (
    "One release per table: a second run draws anew from the same people, and whoever holds both learns more than "
    "either promises. Keep this release; do not make another one of the same table."
)
COUNTED = (
    "The promise counts the earlier releases of the same people that are known. What each of those promised of itself "
    "holds for it alone."
)
TRUE_VALUES = "p = 1 publishes true values: nothing is promised to whoever is in a cell that others know."


@dataclass(frozen=True, kw_only=True)
class PerturbedGeneralization:
    """One perturbed row of every cell of at least k people.

    Parameters
    ----------
    k, sample
        The least people of a cell, or the share of the rows that may be published (k = ⌈1/sample⌉). Give one.
    p, rho, growth
        The probability of keeping a value, or what must hold: ``rho=(ρ1, ρ2)`` (nobody who was at most ρ1 sure becomes
        more than ρ2 sure) or ``growth`` (nobody becomes surer by more). Give one; the largest p is then used.
    skew
        λ: how sure the adversary may be of a single value beforehand; 1 assumes nothing.
    earlier
        How many times likelier, at most, earlier releases of the same people can make one value of a person than
        another: the product of their ratios, as a ledger keeps them. What is promised then holds for all of them
        together.
    recoding
        ``mondrian`` cuts cells one by one; ``specialize`` makes one cut through the tree of every column;
        ``incognito`` publishes every column on one level of its hierarchy.
    bound
        ``tight``, or the ``paper``'s weaker forms.
    labels
        ``free``: cells follow from quasi-identifiers alone. ``driven``: from perturbed values as well, as in the paper;
        for ``specialize`` only, and not safe.
    cells
        ``regions`` of the domain, or the tightest ``boxes`` around the rows of a Mondrian cell (they show extremes).
    several_rows
        Publish although an identifier repeats: the promise is then per row, not per person.
    allow_unsafe
        Needed for ``labels="driven"``.

    Examples
    --------
    >>> PerturbedGeneralization(k=6, rho=(0.2, 0.45), skew=0.1).recoding
    'mondrian'
    >>> PerturbedGeneralization(sample=1/49, p=0.3).least
    49
    >>> PerturbedGeneralization(k=6, p=0.3, growth=0.2)
    Traceback (most recent call last):
    undercover.errors.ParameterError: PerturbedGeneralization needs exactly one of p, rho and growth. Got p and growth.
    """

    name: ClassVar[str] = "perturbed-generalization"
    about: ClassVar[str] = "undercover.methods.perturbed_generalization.about:ABOUT"

    exactly_one: ClassVar = (("k", "sample"), ("p", "rho", "growth"))

    k: Annotated[int, AtLeast(1)] | None = None
    sample: Annotated[float | Fraction, Within(0, 1, "(]")] | None = None
    p: Annotated[float | Fraction, Within(0, 1)] | None = None
    rho: tuple[Number, Number] | None = None
    growth: Annotated[float | Fraction, Within(0, 1, "(]")] | None = None
    earlier: Annotated[float | Fraction, AtLeast(1)] | None = None
    skew: Annotated[float | Fraction, Within(0, 1, "(]")] = 1
    recoding: Way = "mondrian"
    bound: Bound = "tight"
    labels: Labels = "free"
    cells: CellShape = "regions"
    several_rows: bool = False
    allow_unsafe: bool = False

    def __post_init__(self) -> None:
        if self.rho is not None:
            object.__setattr__(self, "rho", _pair(self.rho))
        check(self, self._unfit())

    def _unfit(self) -> Iterator[str]:
        if self.rho is not None:
            try:
                checked_rho("PerturbedGeneralization", self.rho)
            except ParameterError as error:
                yield from error.problems
        if self.growth == 1:
            yield LIMITS_NOTHING.format(owner="PerturbedGeneralization")
        if self.labels == "driven" and self.recoding != "specialize":
            yield f"Cells driven by labels are made by {parameter(recoding='specialize')} only."
        if self.labels == "driven" and self.allow_unsafe is not True:
            yield (
                "The driven labels of PerturbedGeneralization are not safe: where cells are cut tells something about "
                f"sensitive values. Use {parameter(labels='free')}, or say {parameter(allow_unsafe=True)} to publish "
                "it all the same, with the promise for k = 1."
            )
        if self.cells == "boxes" and self.recoding != "mondrian":
            yield f"Recoding by {self.recoding} publishes nodes and regions; cells that are boxes belong to mondrian."

    @property
    def least(self) -> int:
        """The least people of a cell: k, or ⌈1/sample⌉."""
        if self.k is not None:
            return self.k
        assert self.sample is not None
        return cell_size(self.sample)

    @property
    def algorithm_safe(self) -> bool:
        """With label-free cells the release depends on sensitive values through the published ones alone."""
        return self.labels == "free"

    @property
    def corruption_robust(self) -> bool:
        """With label-free cells, too: the value of a cell is drawn from its own people alone."""
        return self.labels == "free"

    def continue_from(self, before: Run, people: SamePeople) -> PerturbedGeneralization:
        """The same; refused where people are in both tables, or where nobody can say who is."""
        if people:
            raise InputError(
                f"{people.sentence()}. Perturbed generalization promises something for one release per table: a second "
                "one draws anew from the same people, and whoever holds both learns more than either promises. Leave "
                "these people out, or keep the release there is."
            )
        if before.schema.identifiers and people.unchecked:
            raise InputError(f"{people.unchecked}. Perturbed generalization allows each person in one release only.")
        return self

    def composed(self, earlier: Sequence[Earlier], schema: Schema) -> PerturbedGeneralization:
        """The same, promising for all releases of these people together; refused where that cannot be kept."""
        if len(schema.sensitive) != 1 or declared_domain(schema.column(schema.sensitive[0])) is None:
            return self  # refused, with the reason, when it is to anonymise
        k = 1 if self.labels == "driven" else self.least
        asked: dict[str, Any] = {name: getattr(self, name) for name in ("p", "rho", "growth", "skew")}
        ratio, skew = spent(earlier, schema, k=k, beside=self.earlier or 1, **asked)
        return replace(self, earlier=ratio, skew=skew)

    def claims(self, table: Table) -> tuple[Guarantee, ...]:
        """Cells of at least k people. What p promises depends on the smallest cell and is claimed with the release."""
        return (KAnonymity(k=self.least),)

    def anonymize(
        self, table: Table, *, engine: Engine, randomness: Randomness, progress: Progress = no_progress
    ) -> Draft:
        """Cut the cells, draw a row of each, perturb its value."""
        sensitive, noise_free = self._checked(table)
        require_rows(table, self.least, sample=self.sample)
        own = domain_codes(table, sensitive, noise_free.domain)
        if self.labels == "driven":
            # Phases in the paper's order: the cells are cut by values that are already perturbed.
            keep = self._keep(1, noise_free.size)
            values = perturbed(own, keep, noise_free.size, randomness)
            parts = specialized(table, k=self.least, labels=values, progress=progress)
            drawn = draw_rows(parts.groups, randomness)
            published = values[drawn]
        else:
            parts = self._parts(table, engine, progress)
            keep = self._keep(self._smallest(table, parts.groups), noise_free.size)
            progress("sampling and perturbing", 0.0)
            drawn = draw_rows(parts.groups, randomness)
            published = perturbed(own[drawn], keep, noise_free.size, randomness)
        cells = box_cells(table, parts.groups, engine.threads) if self.cells == "boxes" else region_cells(table, parts)
        noise = Channel(keep, noise_free.domain)
        made, row_of_group = published_rows(table, sensitive, parts.groups, cells, published, noise)
        return Draft(
            form=Perturbed(keep=plain(self._stated(keep)), domain=noise.domain),
            tables=(made,),
            groups=parts.groups,
            row_of_group=row_of_group,
            shuffles=(_halves(parts.groups, drawn),),
            diagnostics={
                "groups": parts.groups.count,
                "smallest_group": int(parts.groups.sizes.min()),
                "largest_group": int(parts.groups.sizes.max()),
                "p": float(keep),
                "one_release_per_table": ONE_RELEASE,
            },
            claims=self._promises(table, parts.groups, noise),
            used={"p": plain(self._stated(keep)), "domain": list(noise.domain)},
            warnings=(
                ONE_RELEASE if self.earlier is None else COUNTED,
                *([TRUE_VALUES] if keep == 1 else []),
                *([] if table.schema.column(sensitive).domain else [from_leaves(sensitive, noise.size)]),
            ),
        )

    def on_parts(self, table: Table, *, engine: Engine, progress: Progress = no_progress) -> OnParts | None:
        """As it is, p being that of the smallest cell there may be; not where cells are cut for the whole domain."""
        return OnParts(self) if self.recoding == "mondrian" else None

    def outcomes(self, table: Table) -> Iterator[tuple[Fraction, DrawnCells]]:
        """Everything that may be published of a tiny table: the value of each cell, with its exact probability."""
        sensitive, noise_free = self._checked(table)
        own = domain_codes(table, sensitive, noise_free.domain)
        if self.labels == "free":
            groups = self._parts(table).groups
            noise = Channel(self._keep(int(groups.sizes.min()), noise_free.size), noise_free.domain)
            members = [groups.rows_of(group).tolist() for group in range(groups.count)]
            chances = [_value_chances(own[rows], noise) for rows in members]
            for values in product(range(noise.size), repeat=len(members)):
                chance = Fraction(1)
                for value, of_cell in zip(values, chances, strict=True):
                    chance *= of_cell[value]
                yield chance, drawn_cells(members, [noise.domain[value] for value in values])
            return
        noise = Channel(self._keep(1, noise_free.size), noise_free.domain)
        for values in product(range(noise.size), repeat=table.n_rows):
            chance = Fraction(1)
            for before, after in zip(own.tolist(), values, strict=True):
                chance *= noise.u + noise.p * (before == after)
            groups = specialized(table, k=self.least, labels=np.array(values)).groups
            members = [groups.rows_of(group).tolist() for group in range(groups.count)]
            for rows in product(*members):
                share = Fraction(1, int(np.prod([len(of_cell) for of_cell in members])))
                yield chance * share, drawn_cells(members, [noise.domain[values[row]] for row in rows])

    def _parts(self, table: Table, engine: Engine | None = None, progress: Progress = no_progress) -> Partition:
        """Cells by quasi-identifiers alone."""
        if self.recoding == "specialize":
            return specialized(table, k=self.least, progress=progress)
        if self.recoding == "incognito":
            return full_domain_partition(table, k=self.least, progress=progress)
        threads = engine.threads if engine else 1
        return partition(table, k=self.least, cut="median", recoding="regions", threads=threads, progress=progress)

    def _smallest(self, table: Table, groups: Groups) -> int:
        """People of the smallest cell; on a part of a table the fewest there may be, as on every other part."""
        return int(groups.sizes.min()) if table.part is None else self.least

    def _stated(self, keep: Fraction) -> Number:
        """p as it is stated: as it was given, or as the number that was computed."""
        return self.p if self.p is not None else float(keep)

    def _keep(self, smallest: int, size: int) -> Fraction:
        """The probability of keeping a value where the smallest cell has so many people."""
        if self.p is not None:
            # Fails here if the skew does not fit the domain.
            growth_bound(p=self.p, k=smallest, domain=size, skew=self.skew, bound=self.bound)
            return exact(self.p)
        asked: dict[str, Any] = {"rho": self.rho, "growth": self.growth, "skew": self.skew, "bound": self.bound}
        return Fraction(largest_p_after(self.earlier, k=smallest, domain=size, **asked))

    def _promises(self, table: Table, groups: Groups, noise: Channel) -> tuple[Guarantee, ...]:
        counted = 1 if self.labels == "driven" else None
        smallest = counted or self._smallest(table, groups)
        stated: dict[str, Any] = {
            "p": self._stated(noise.p),
            "domain": noise.size,
            "skew": self.skew,
            "bound": self.bound,
            "earlier": self.earlier,
        }
        reached = growth_after(k=smallest, **stated)
        promises: list[Guarantee] = [DisjointCells(**_meanings(table))]
        if self.rho is not None:
            promises.append(RhoBreach(rho1=self.rho[0], rho2=self.rho[1], k=counted, **stated))
        growth = self.growth if self.growth is not None else reached
        promises.append(DeltaGrowth(growth=growth, k=counted, **stated))
        return tuple(promises)

    def _checked(self, table: Table) -> tuple[str, Channel]:
        """The sensitive column and its declared domain, nothing kept yet."""
        schema = table.schema
        if len(schema.sensitive) != 1:
            raise SchemaError(
                f"PerturbedGeneralization protects exactly one sensitive column. Got {len(schema.sensitive)} instead."
            )
        (sensitive,) = schema.sensitive
        domain = declared_domain(schema.column(sensitive))
        problems = []
        if domain is None:
            problems.append(undeclared(table, sensitive))
        elif typed_domain(table, sensitive, domain) is None:
            problems.append(
                f"Column `{sensitive}` holds {table[sensitive].domain.kind} values, but its declared domain is not "
                "written like them: 1.5 and 2, not 1.50 or 2.0; dates as 2020-01-31."
            )
        if table[sensitive].domain.has_missing:
            problems.append(
                f"Column `{sensitive}` has missing values, which are no part of its domain. "
                f"Leave those rows out: {option(missing='drop')}."
            )
        if schema.insensitive:
            problems.append(
                f"PerturbedGeneralization cannot publish {listed(schema.insensitive)} unchanged: whoever knows them "
                "finds whose row was drawn. Make them quasi-identifiers, or leave them out."
            )
        repeated = [name for name, rows in table.repeated.items() if rows]
        if repeated and not self.several_rows:
            raise DataError(
                [
                    *problems,
                    f"Identifier {listed(repeated)} repeats: the promise is for one row per person. Join the rows of a "
                    f"person, or say {parameter(several_rows=True)} to be promised something per row only.",
                ]
            )
        if problems:
            raise SchemaError(problems)
        assert domain is not None
        return sensitive, Channel(Fraction(0), domain)


def _meanings(table: Table) -> dict[str, Any]:
    """What the cells of hierarchies and ordinal columns stand for, which no published table says."""
    trees, orders, observed = {}, {}, []
    for name in table.schema.quasi_identifiers:
        settings, domain = table.schema.column(name), table[name].domain
        if settings.hierarchy is not None:
            trees[name] = settings.hierarchy.rows
        elif domain.kind == "ordinal" and settings.domain is not None:
            orders[name] = settings.domain
            observed += [name] if settings.found else []
    return {"trees": trees, "orders": orders, "observed": tuple(observed)}


def _halves(groups: Groups, drawn: NDArray[np.integer]) -> Shuffle:
    """The rows that were drawn as something that was dealt: a row in the first half of its cell, or in the last.

    Whichever is drawn of two rows as far from the two ends of the cell is equally likely. So beside every row that was
    drawn stands the one that might as well have been.
    """
    place = np.empty(len(groups.labels), dtype=np.int64)
    place[groups.order] = np.arange(len(groups.labels)) - np.repeat(groups.offsets[:-1], groups.sizes)
    mirrored = groups.sizes - 1 - place[drawn]
    within = np.repeat(np.arange(groups.count), 2)
    return Shuffle("row of a cell", np.stack([place[drawn], mirrored], axis=1).ravel(), within)


def _value_chances(own: NDArray[np.signedinteger[Any]], noise: Channel) -> list[Fraction]:
    """The probability of each value being published for a cell of people with these values."""
    counts = np.bincount(own, minlength=noise.size).tolist()
    return [noise.u + noise.p * Fraction(count, len(own)) for count in counts]


def _pair(given: Any) -> Any:
    """Two numbers from text such as ``0.2,0.45``, or what was given."""
    if isinstance(given, str):
        return tuple(part.strip() if "/" in part else _number(part.strip()) for part in given.split(","))
    return tuple(given) if isinstance(given, list) else given


def _number(text: str) -> Number:
    """Text as a number; what is none is left to the check."""
    try:
        return float(text)
    except ValueError:
        return text
