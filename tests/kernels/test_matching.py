"""Posteriors against the same in fractions."""

from fractions import Fraction

import numpy as np
import pytest

from undercover.forms.boxes import Buckets
from undercover.forms.dealt.law import posteriors


def plain_posterior(boxes: list[int], weights: list[int], buckets: list[dict[int, int]], bucket_of: list[int]):
    """Probability of every value: the mean over the matching rows of its share in the bucket of the row."""
    total = sum(weights[box] for box in boxes)
    shares: dict[int, Fraction] = {}
    for box in boxes:
        bucket = buckets[bucket_of[box]]
        for value, count in bucket.items():
            share = Fraction(weights[box] * count, sum(bucket.values()))
            shares[value] = shares.get(value, Fraction(0)) + share / total
    return shares


def test_random_boxes_and_buckets() -> None:
    for number in range(60):
        rng = np.random.default_rng((number, 41))
        n_boxes, n_buckets, n_values = 12, 5, 6
        buckets = [
            {int(v): int(rng.integers(1, 5)) for v in rng.choice(n_values, int(rng.integers(1, 5)), replace=False)}
            for _ in range(n_buckets)
        ]
        bucket_of = rng.integers(0, n_buckets, n_boxes)
        weights = rng.integers(1, 6, n_boxes)
        members = [sorted(rng.choice(n_boxes, int(rng.integers(0, 6)), replace=False).tolist()) for _ in range(8)]
        target_of = np.sort(rng.integers(0, 8, 40))
        truth = rng.integers(0, n_values, 40)
        probability, hit = posteriors(
            None,
            np.concatenate([[0], np.cumsum([len(one) for one in members])]).astype(np.int64),
            np.array([box for one in members for box in one], np.int64),
            Buckets(
                weights.astype(np.float64),
                bucket_of,
                np.concatenate([[0], np.cumsum([len(bucket) for bucket in buckets])]).astype(np.int64),
                np.array([value for bucket in buckets for value in bucket], np.int64),
                np.array([count for bucket in buckets for count in bucket.values()], np.float64),
                np.array([sum(bucket.values()) for bucket in buckets], np.float64),
                n_values,
            ),
            target_of,
            truth,
        )
        for row, (target, value) in enumerate(zip(target_of.tolist(), truth.tolist(), strict=True)):
            shares = plain_posterior(members[target], weights.tolist(), buckets, bucket_of.tolist())
            best = [v for v, share in shares.items() if share == max(shares.values())]
            assert probability[row] == pytest.approx(float(shares.get(value, 0)), abs=1e-12), number
            assert hit[row] == pytest.approx(1 / len(best) if value in best else 0), number


def test_two_boxes_by_hand() -> None:
    # Three rows of a bucket {x: 1, y: 2} and one of a bucket {x: 1}: x has (3 · 1/3 + 1) / 4 = 1/2, y the same.
    probability, hit = posteriors(
        None,
        np.array([0, 2]),
        np.array([0, 1]),
        Buckets(
            np.array([3.0, 1.0]),
            np.array([0, 1]),
            np.array([0, 2, 3]),
            np.array([0, 1, 0]),
            np.array([1.0, 2.0, 1.0]),
            np.array([3.0, 1.0]),
            3,
        ),
        np.array([0, 0, 0]),
        np.array([0, 1, 2]),
    )
    assert probability.tolist() == [0.5, 0.5, 0.0]
    assert hit.tolist() == [0.5, 0.5, 0.0]
