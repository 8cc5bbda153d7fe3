"""The informed adversary against all assignments of all rows, with likelihoods worked out value by value."""

from collections.abc import Callable, Sequence
from itertools import permutations, product
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import undercover as uc
from undercover.engines.local import LocalEngine
from undercover.errors import ParameterError
from undercover.forms import read
from undercover.forms.case import Case
from undercover.methods.mutual_cover.informed import Informed
from undercover.threads import however_little

KNOWN = ("age", "town", "job")
TOWNS = uc.Hierarchy([("Ulm", "South", "*"), ("Wien", "South", "*"), ("Kiel", "North", "*"), ("Oslo", "North", "*")])
SCHEMA = uc.Schema(quasi_identifiers=KNOWN, sensitive="ill", columns={"town": uc.Column(hierarchy=TOWNS)})
ORDER = {"Ulm": 0, "Wien": 1, "Kiel": 2, "Oslo": 3}

Row = dict[str, Any]
Tables = dict[str, dict[str, dict[str, float]]]  # attribute -> original -> output -> probability


def random_people(seed: int, n: int = 12) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "age": rng.integers(20, 26, n),
            "town": [TOWNS.leaves[i] for i in rng.integers(0, 4, n)],
            "job": [("cook", "smith", "clerk")[i] for i in rng.integers(0, 3, n)],
            "ill": [("flu", "cold", "gout", "rash", "fever")[i % 5] for i in rng.permutation(n)],
        }
    )


def distance(name: str, one: str, other: str) -> float:
    if name == "age":
        return abs(int(one) - int(other))
    if one == other:
        return 0.0
    if name == "job":
        return 1.0
    return 1 / 3 if ORDER[one] // 2 == ORDER[other] // 2 else 1.0


def likelihood(
    person: Sequence[str], row: Sequence[str], tables: Tables, spread: Sequence[float], unchanged: str, perturb: int
) -> float:
    """Probability that the person releases the row, by going through everything that can happen."""
    lines = [tables[name][value] for name, value in zip(KNOWN, person, strict=True)]
    drawn = float(np.prod([line.get(value, 0.0) for line, value in zip(lines, row, strict=True)]))
    stays = float(np.prod([line.get(value, 0.0) for line, value in zip(lines, person, strict=True)]))
    if unchanged == "off":
        return drawn
    if unchanged == "resample" and stays < 1:
        return 0.0 if list(row) == list(person) else drawn / (1 - stays)
    columns = [sorted({value for line in tables[name].values() for value in line}) for name in KNOWN]
    chance = [
        weight * (1 - 1 / len(values)) if len(values) > 1 else 0.0
        for weight, values in zip(spread, columns, strict=True)
    ]
    found = 0.0 if list(row) == list(person) else drawn
    changes = min(perturb, sum(one > 0 for one in chance))
    if changes == 0:
        return stays if list(row) == list(person) else found
    for chosen in permutations([a for a in range(len(KNOWN)) if chance[a] > 0], changes):
        weight, left = stays, sum(chance)
        for a in chosen:
            weight *= chance[a] / left
            left -= chance[a]
        others = [[value for value in columns[a] if value != person[a]] for a in chosen]
        for values in product(*others):
            result = list(person)
            for a, value in zip(chosen, values, strict=True):
                result[a] = value
            if result == list(row):
                found += weight / np.prod([len(options) for options in others])
    return found


def by_permutations(
    run: uc.Run, people: pa.Table, unchanged: str, perturb: int, distance: Callable[[str, str, str], float] = distance
) -> tuple[Any, Any]:
    """Identity and attribute of everybody."""
    rows = [tuple(str(row[name]) for name in KNOWN) for row in people.to_pylist()]
    secrets = people["ill"].to_pylist()
    published = run.release.table().to_pylist()
    own = read(run.release).own_rows(run)
    assert own is not None
    released = [tuple(str(published[i][name]) for name in KNOWN) for i in own]
    lines = run.frames["output_tables"].to_pylist()
    widest = [max(distance(name, *pair) for pair in product({row[a] for row in rows}, repeat=2))
              for a, name in enumerate(KNOWN)]  # fmt: skip
    identity, attribute = np.zeros(len(rows)), np.zeros(len(rows))
    for group in range(run.groups.count):
        members = run.groups.rows_of(group).tolist()
        tables: Tables = {name: {} for name in KNOWN}
        for line in lines:
            if line["group"] == group:
                tables[line["attribute"]].setdefault(line["original"], {})[line["output"]] = line["probability"]
        spread = [
            max(distance(name, rows[i][a], rows[j][a]) for i in members for j in members) / (widest[a] or 1)
            for a, name in enumerate(KNOWN)
        ]
        values = [sorted({value for line in tables[name].values() for value in line}) for name in KNOWN]
        for i in members:
            everything = sum(likelihood(rows[i], row, tables, spread, unchanged, perturb) for row in product(*values))
            assert everything == pytest.approx(1)
        weights = [
            [likelihood(rows[i], released[r], tables, spread, unchanged, perturb) for r in members] for i in members
        ]
        total = 0.0
        for order in permutations(range(len(members))):
            weight = float(np.prod([weights[i][order[i]] for i in range(len(members))]))
            total += weight
            for i, r in enumerate(order):
                identity[members[i]] += weight * (i == r)
                attribute[members[i]] += weight * (secrets[members[r]] == secrets[members[i]])
        identity[members] /= total
        attribute[members] /= total
    return identity, attribute


@pytest.mark.parametrize(("unchanged", "perturb"), [("resample", 1), ("paper", 1), ("paper", 2), ("off", 1)])
@pytest.mark.parametrize("seed", [0, 1, 4])
def test_as_all_assignments(seed: int, unchanged: str, perturb: int) -> None:
    people = random_people(seed)
    run = uc.publish(
        people,
        SCHEMA,
        uc.MutualCover(variant="paper", delta="1/3", l=3, unchanged=unchanged, perturb=perturb),
        seed=seed,
    )
    assert 3 <= run.groups.sizes.min() <= run.groups.sizes.max() <= 6
    found = uc.attack(run, Informed())
    identity, attribute = by_permutations(run, people, unchanged, perturb)
    assert found.exact.all()
    assert found.identity == pytest.approx(identity, abs=1e-9)
    assert found.attribute == pytest.approx(attribute, abs=1e-9)
    assert (found.attribute >= found.identity - 1e-12).all()


def test_own_distances_weigh_what_is_changed() -> None:
    people = random_people(1)
    apart = {"cook": 0, "smith": 1, "clerk": 9}
    jobs = uc.Distances(apart, [[abs(u - v) for v in apart.values()] for u in apart.values()])
    schema = uc.Schema(
        quasi_identifiers=KNOWN,
        sensitive="ill",
        columns={"town": uc.Column(hierarchy=TOWNS), "job": uc.Column(distance=jobs)},
    )
    run = uc.publish(people, schema, uc.MutualCover(variant="paper", delta="1/2", l=3, unchanged="paper"), seed=1)

    def own(name: str, one: str, other: str) -> float:
        return abs(apart[one] - apart[other]) if name == "job" else distance(name, one, other)

    found = uc.attack(run, Informed())
    identity, _ = by_permutations(run, people, "paper", 1, own)
    assert found.identity == pytest.approx(identity, abs=1e-9)
    flat, _ = by_permutations(run, people, "paper", 1)
    assert found.identity != pytest.approx(flat, abs=1e-6)


def test_the_oracle_notices_another_way_to_treat_unchanged_rows() -> None:
    people = random_people(0)
    run = uc.publish(people, SCHEMA, uc.MutualCover(variant="paper", delta="1/3", l=3), seed=0)
    identity, _ = by_permutations(run, people, "off", 1)
    assert uc.attack(run, Informed()).identity != pytest.approx(identity, abs=1e-3)


def test_uniform_tables_tell_him_nothing_beyond_the_group() -> None:
    people = random_people(3, 15)
    run = uc.publish(
        people, SCHEMA, uc.MutualCover(variant="paper", delta="1/3", l=3, tables="uniform", unchanged="off"), seed=3
    )
    found = uc.attack(run, Informed())
    assert found.identity == pytest.approx(1 / found.sizes)
    assert found.attribute == pytest.approx(found.shares)
    summary = found.to_dict()
    assert summary["identity"]["mean"] == pytest.approx(summary["baseline"]["identity"])
    assert summary["attribute"]["mean"] == pytest.approx(summary["baseline"]["attribute"])


def test_whole_numbers_nobody_has() -> None:
    people = random_people(4)
    run = uc.publish(people, SCHEMA, uc.MutualCover(variant="paper", delta="1/3", l=3, columns="integer_range"), seed=4)
    found = uc.attack(run, Informed())
    identity, attribute = by_permutations(run, people, "resample", 1)
    assert found.identity == pytest.approx(identity, abs=1e-9)
    assert found.attribute == pytest.approx(attribute, abs=1e-9)


@however_little()
def test_threads_and_a_saved_run_change_nothing(tmp_path: Any) -> None:
    people = random_people(6, 60)
    run = uc.publish(people, SCHEMA, uc.MutualCover(variant="paper", delta="1/3", l=3))
    assert run.original is not None
    one, three = (
        Informed().run(Case(run.original, run.release, run, engine=LocalEngine(threads=threads))).to_dict()
        for threads in (1, 3)
    )
    assert one == three
    again = uc.load(uc.save(run, tmp_path / "out"))
    assert uc.attack(again, Informed(), original=people).to_dict() == one
    assert one["worst_rows"][0]["identity"] == one["identity"]["max"]


def test_what_cannot_be_asked() -> None:
    run = uc.publish(random_people(7), SCHEMA, uc.Mondrian(k=3))
    with pytest.raises(ParameterError, match="needs the private run of mutual-cover"):
        uc.attack(run, Informed())
    with pytest.raises(ParameterError, match="most_sets"):
        Informed(most_sets=-1)
