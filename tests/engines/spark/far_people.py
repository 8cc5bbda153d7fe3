"""People to publish from Spark."""

import numpy as np
import pyarrow as pa

import undercover as uc

SCHEMA = uc.Schema(identifiers="name", quasi_identifiers=["age", "job"], sensitive="ill")


def people(n: int = 240) -> pa.Table:
    rng = np.random.default_rng(70)
    return pa.table(
        {
            "name": [f"Xqname-{number % (n - 2)}" for number in range(n)],
            "age": rng.integers(18, 90, n),
            "job": [f"job {number}" for number in rng.integers(0, 6, n)],
            "ill": [f"ill {number}" for number in rng.permutation(np.arange(n) % 8)],
        }
    )
