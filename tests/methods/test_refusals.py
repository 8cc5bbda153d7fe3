"""What is refused speaks of what was asked for, in the numbers it may be asked in, and says what would do."""

from fractions import Fraction
from functools import partial
from typing import Any

import pyarrow as pa
import pytest

import undercover as uc
from undercover.errors import UnreachableError

DOMAIN = [f"d{i}" for i in range(12)]
SCHEMA = uc.Schema(quasi_identifiers=["age"], sensitive="ill", columns={"ill": uc.Column(domain=tuple(DOMAIN))})

WITH_L: dict[str, Any] = {
    "anatomy": uc.Anatomy,
    "cross-bucket": partial(uc.CrossBucket, k=2),
    "incognito": partial(uc.Incognito, k=2),
    "mondrian": partial(uc.Mondrian, k=2),
    "mutual-cover": partial(uc.MutualCover, delta="1/2"),
    "mutual-cover groups": partial(uc.MutualCover, variant="groups"),
    "mutual-cover paper": partial(uc.MutualCover, delta="1/2", variant="paper"),
    "mutual-cover paper, guided": partial(uc.MutualCover, delta="1/2", variant="paper", partition="guided"),
    "streamliner": uc.Streamliner,
}
WHOLE = [name for name in WITH_L if name not in ("incognito", "mondrian")]  # the l of these may be 43.75


def people(counts: list[int]) -> pa.Table:
    """So many rows with each value."""
    ill = [f"d{i}" for i, count in enumerate(counts) for _ in range(count)]
    return pa.table({"age": [20 + i % 50 for i in range(len(ill))], "ill": ill})


@pytest.mark.parametrize("name", WITH_L)
def test_an_l_beyond_the_rows_is_spoken_of_as_l(name: str) -> None:
    with pytest.raises(UnreachableError, match=r"^l=20 .*cannot be reached.* l is 12\.$") as refused:
        uc.publish(people([1] * 12), SCHEMA, WITH_L[name](l=20))
    assert "k=" not in str(refused.value)
    assert refused.value.best["l"] == 12


@pytest.mark.parametrize("name", WHOLE)
def test_an_l_that_would_do_is_one_that_can_be_asked_for(name: str) -> None:
    # 40 of 175 rows share a value: 175 / 40 = 4.375.
    data = people([40, 20, 20, 20, 20, 20, 20, 15])
    with pytest.raises(UnreachableError, match=r"largest feasible l is 4\.$") as refused:
        uc.publish(data, SCHEMA, WITH_L[name](l=5))
    best = refused.value.best["l"]
    assert (best, type(best)) == (4, int)


def test_a_sample_is_spoken_of_as_a_sample() -> None:
    def sampled(**asked: Any) -> uc.PerturbedGeneralization:
        return uc.PerturbedGeneralization(p=0.3, **asked)

    with pytest.raises(
        UnreachableError, match=r"^sample=1/20 cannot be reached.*smallest feasible sample is 1/12\.$"
    ) as no:
        uc.publish(people([1] * 12), SCHEMA, sampled(sample=Fraction(1, 20)))
    assert no.value.best == {"sample": Fraction(1, 12)}
    with pytest.raises(UnreachableError, match=r"^k=20 cannot be reached.*largest feasible k\.$"):
        uc.publish(people([1] * 12), SCHEMA, sampled(k=20))
    assert len(uc.publish(people([1] * 12), SCHEMA, sampled(sample=Fraction(1, 12))).release.table()) == 1


def test_a_k_beyond_the_rows_is_spoken_of_as_k() -> None:
    with pytest.raises(UnreachableError, match=r"^k=20 cannot be reached"):
        uc.publish(people([1] * 12), SCHEMA, uc.MutualCover(delta="1/2", l=2, k=20, variant="paper"))


@pytest.mark.parametrize("method", [uc.MutualCover(delta="1/20", variant="blocks"), uc.MutualCover(delta="1/20", l=2)])
def test_a_delta_beyond_the_rows_is_spoken_of_as_delta(method: uc.MutualCover) -> None:
    with pytest.raises(
        UnreachableError, match=r"^delta=1/20 cannot be reached.*smallest feasible delta is 1/12\.$"
    ) as no:
        uc.publish(people([1] * 12), SCHEMA, method)
    assert no.value.best == {"delta": Fraction(1, 12)}
