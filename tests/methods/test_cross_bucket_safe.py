"""Safe cross-bucket generalization: what somebody who knows the algorithm makes of it, in exact fractions."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import undercover as uc
from undercover.engines.local import LocalEngine
from undercover.errors import InternalError, UnreachableError
from undercover.methods.cross_bucket.safe import Boxes, boxes_of, check_safe
from undercover.model.groups import Groups
from undercover.model.release import NOT_SAFE, REPRODUCIBLE
from undercover.model.table import Table
from undercover.multisets import distinct_orders
from undercover.randomness import Randomness
from undercover.studies.algorithm_aware.attack import AlgorithmAware
from undercover.studies.algorithm_aware.evidence import Crossed
from undercover.testing.tables import people

TINY = {  # quasi-identifiers, counts of values, k, l
    "four": ((0, 1, 2, 3), (2, 1, 1), 2, 2),
    "pairs": ((0, 0, 1, 1), (2, 2), 1, 2),
    "five, k above l": ((0, 0, 1, 2, 5), (2, 2, 1), 3, 2),
    "six": ((0, 1, 2, 3, 4, 9), (2, 2, 2), 2, 3),
    "six, skewed": ((0, 0, 1, 1, 2, 3), (3, 1, 1, 1), 4, 2),
}
LARGER = {
    "seven": (tuple(range(7)), (3, 3, 1), 2, 2),
    "eight, two values": ((0, 1, 2, 3, 10, 11, 12, 13), (4, 4), 3, 2),
    "eight, three values": ((0, 1, 2, 3, 10, 11, 12, 13), (3, 3, 2), 4, 2),
    "eight, four values": ((0, 1, 2, 3, 10, 11, 12, 13), (2, 2, 2, 2), 2, 4),
}
EVERY_WAY = [{"boxes": boxes, "robust": robust} for boxes in ("mondrian", "exact") for robust in (False, True)]
CASES = [
    *(pytest.param(name, more, id=f"{name}, {more}") for name in TINY for more in EVERY_WAY),
    *(  # the listing is that of buckets, whatever the boxes
        pytest.param(name, more, id=f"{name}, {more}", marks=[pytest.mark.soak] * ("four values" in name))
        for name in LARGER
        for more in EVERY_WAY[2:]
    ),
]


def safe(k: int, l: int, **more: Any) -> uc.CrossBucket:  # noqa: E741
    return uc.CrossBucket(k=k, l=l, **more)


@pytest.mark.parametrize(("name", "more"), CASES)
def test_knowing_the_algorithm_gains_nothing(name: str, more: dict[str, Any]) -> None:
    x, counts, k, l = (TINY | LARGER)[name]  # noqa: E741
    method = safe(k, l, **more)
    known = 1 if len(x) <= 5 and method.corruption_robust else 0
    attack = AlgorithmAware(trials=150 if name == "four" else 40, known=known)  # what is listed is gone through anyway
    found = attack.on(people(x, counts), method, randomness=Randomness(5))
    assert found.exact
    assert found.safe
    assert found.largest_gain.gain == 0
    assert found.largest_gain.posterior == found.largest_gain.alone
    if not known:
        assert found.worst.posterior <= Fraction(1, l)
    assert found.refused == 0
    assert found.differs is None


def seen_alone(table: Table, method: uc.CrossBucket) -> dict[Crossed, Counter[tuple[int, ...]]]:
    """What is published (boxes, how many rows of each lie in which bucket, the values of each bucket), with the exact
    weight of every way in which the values may belong to the people."""
    boxes = boxes_of(table, method.k, method.boxes or "mondrian", engine=LocalEngine(), randomness=Randomness(1))
    found: dict[Crossed, Counter[tuple[int, ...]]] = defaultdict(Counter)
    for assignment in distinct_orders(table["s"].codes.tolist()):
        for chance, buckets in method.outcomes(with_values(table, assignment)) or ():
            found[crossed(boxes, buckets)][assignment] += chance  # type: ignore[assignment]
    return found


def with_values(table: Table, assignment: Sequence[int]) -> Table:
    labels = table["s"].domain.labels
    data = {name: table[name].domain.take(table[name].codes) for name in table.schema.quasi_identifiers}
    return Table.from_arrow(pa.table({**data, "s": [labels[code] for code in assignment]}), table.schema)


def crossed(boxes: Groups, buckets: Any) -> Crossed:
    """Buckets in an order that says nothing of whose they are."""
    held = [(values, tuple(sorted(int(boxes.labels[row]) for row in rows))) for rows, values in buckets]
    of_row = {row: (values, where) for (rows, values), (_, where) in zip(buckets, held, strict=True) for row in rows}
    order = sorted(held)
    number: dict[frozenset[int], int] = {}
    for place, one in enumerate(order):
        rows = next(rows for rows, _ in buckets if rows not in number and of_row[min(rows)] == one)
        number[rows] = place
    placed = {row: place for rows, place in number.items() for row in rows}
    groups = [boxes.rows_of(group).tolist() for group in range(boxes.count)]
    return Crossed(
        tuple((tuple(sorted(rows)), tuple(sorted(placed[row] for row in rows))) for rows in groups),
        tuple(values for values, _ in order),
    )


@pytest.mark.parametrize("more", EVERY_WAY, ids=str)
@pytest.mark.parametrize("name", TINY)
def test_what_is_published_leaves_nobody_above_one_in_l(name: str, more: dict[str, Any]) -> None:
    x, counts, k, l = TINY[name]  # noqa: E741
    method, table = safe(k, l, **more), people(x, counts)
    releases = seen_alone(table, method)
    assert releases
    for published, weights in releases.items():
        shares: Counter[tuple[int, int]] = Counter()
        for assignment, weight in weights.items():
            for person in enumerate(assignment):
                shares[person] += weight
        total = sum(weights.values())
        posterior = {person: Fraction(share) / total for person, share in shares.items()}
        assert max(posterior.values()) <= Fraction(1, l)
        if method.robust:  # buckets at random: exactly what Definition 10 says
            assert posterior == published.alone(())


def test_the_attacker_catches_boxes_that_saw_values(monkeypatch: pytest.MonkeyPatch) -> None:
    def by_value(table: Table, k: int, boxes: Boxes, **more: Any) -> Groups:
        rank = np.argsort(np.argsort(table["s"].codes, kind="stable"))
        return Groups(np.minimum(rank // k, table.n_rows // k - 1).astype(np.int32), table.n_rows // k)

    monkeypatch.setattr("undercover.methods.cross_bucket.method.boxes_of", by_value)
    table = people((0, 1, 2, 3, 4), (2, 1, 1, 1))
    found = AlgorithmAware(trials=300).on(table, safe(2, 2, robust=True), randomness=Randomness(5))
    assert not found.safe
    assert "groups" not in found.leaks  # who is in which bucket tells nothing; the boxes do
    assert found.worst.posterior == 1


@pytest.mark.parametrize("boxes", ["mondrian", "exact"])
def test_boxes_do_not_depend_on_values(boxes: Boxes) -> None:
    ages = np.random.default_rng(2).permutation(60)
    schema = uc.Schema(quasi_identifiers=["age"], sensitive="ill")
    found = set()
    for shift in (0, 7, 11):
        data = pa.table({"age": ages, "ill": [f"s{(i * (shift + 1)) % 13}" for i in range(60)]})
        table = Table.from_arrow(data, schema)
        groups = boxes_of(table, 4, boxes, engine=LocalEngine(threads=1), randomness=Randomness(shift))
        found.add(tuple(sorted(tuple(sorted(groups.rows_of(group).tolist())) for group in range(groups.count))))
    assert len(found) == 1


def test_which_of_equal_rows_comes_into_which_exact_box_is_drawn(uniform: Any) -> None:
    data = pa.table({"age": [1, 1, 1, 1], "ill": ["a", "b", "c", "d"]})
    table = Table.from_arrow(data, uc.Schema(quasi_identifiers=["age"], sensitive="ill"))
    together: Counter[int] = Counter()
    for seed in range(600):
        labels = boxes_of(table, 2, "exact", engine=LocalEngine(threads=1), randomness=Randomness(seed)).labels
        together[next(row for row in (1, 2, 3) if labels[row] == labels[0])] += 1
    assert uniform([together[row] for row in (1, 2, 3)])


def test_exact_boxes_have_the_least_discernibility() -> None:
    people = uc.datasets.census(3_001, seed=2)
    schema = uc.datasets.census_schema(["age", "sex", "education", "hours"], "salary", hierarchies=False)
    run = uc.publish(people, schema, safe(4, 6, boxes="exact"), seed=1)
    assert run.diagnostics["discernibility"] == 749 * 16 + 25
    assert run.diagnostics["buckets"] == 500
    assert set(np.bincount(run.buckets).tolist()) <= {6, 7}


def test_bucket_numbers_are_shuffled(uniform: Any) -> None:
    table = people((0, 1, 2, 3), (1, 1, 1, 1))
    numbers: Counter[int] = Counter()
    for seed in range(600):
        draft = safe(2, 2).anonymize(table, engine=LocalEngine(threads=1), randomness=Randomness(seed))
        assert draft.buckets is not None
        numbers[int(draft.buckets[0])] += 1
    assert uniform([numbers[0], numbers[1]])


def test_k_may_exceed_what_the_values_allow() -> None:
    # The paper takes k rows of different values together, and cannot do this; boxes that see no values can.
    data = pa.table({"age": [1, 2, 3, 4, 5, 6], "sex": ["F"] * 6, "ill": ["a", "a", "a", "b", "c", "d"]})
    schema = uc.Schema(quasi_identifiers=["age", "sex"], sensitive="ill")
    assert uc.verify(uc.publish(data, schema, safe(6, 2)).release).holds
    with pytest.raises(UnreachableError, match="the largest feasible k is 2"):
        uc.publish(data, schema, safe(6, 2, variant="paper"))
    with pytest.raises(
        UnreachableError,
        match=r"l=3 cannot be reached: the most frequent .* is 50.0% .* the largest feasible l is 2",
    ):
        uc.publish(data, schema, safe(2, 3))
    with pytest.raises(UnreachableError, match="k=7 cannot be reached: the table has only 6 rows"):
        uc.publish(data, schema, safe(7, 2))


def test_what_a_release_says_of_itself() -> None:
    example = uc.datasets.hospital("cross-bucket")
    by_chance, near, paper = (
        uc.publish(example.table, example.schema, safe(2, 4, **more), seed=1).release
        for more in ({"robust": True}, {}, {"variant": "paper"})
    )
    assert [(one.algorithm_safe, one.corruption_robust) for one in (by_chance, near, paper)] == [
        (True, True),
        (True, False),
        (False, False),
    ]
    assert by_chance.parameters == {"k": 2, "l": 4, "joined": False, "variant": "safe", "robust": True}
    assert by_chance.warnings == (REPRODUCIBLE,)
    assert paper.warnings == (NOT_SAFE, REPRODUCIBLE)


@pytest.mark.parametrize(
    ("message", "groups", "buckets", "values"),
    [
        ("a box has 1 rows", [0, 1, 1, 1], [0, 0, 1, 1], [0, 1, 0, 1]),
        ("a bucket has 1 rows", [0, 0, 1, 1], [0, 1, 1, 1], [0, 1, 0, 2]),
        ("a bucket has a sensitive value twice", [0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 1, 2]),
    ],
)
def test_the_own_check_rejects_planted_faults(
    message: str, groups: list[int], buckets: list[int], values: list[int]
) -> None:
    boxes, dealt = (Groups(np.array(labels, np.int32), 2) for labels in (groups, buckets))
    with pytest.raises(InternalError, match=message):
        check_safe(boxes, dealt, np.array(values), k=2, l=2)
    whole = Groups(np.array([0, 0, 1, 1], np.int32), 2)
    check_safe(whole, whole, np.array([0, 1, 0, 1]), k=2, l=2)
