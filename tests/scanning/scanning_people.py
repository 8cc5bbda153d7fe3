"""People in an order that says everything about them: by age, as many a file is."""

import numpy as np
import pyarrow as pa

import undercover as uc

ILLS = ("asthma", "cold", "flu", "gout", "mumps", "none", "rash", "ulcer")
SCHEMA = uc.Schema(
    identifiers=["who", "number"],
    quasi_identifiers=["age", "town"],
    sensitive="ill",
    insensitive="note",
    columns={"ill": uc.Column(domain=ILLS)},
)


def crowd(n: int = 400, seed: int = 5) -> pa.Table:
    """People by age and town, which many a file is sorted by; a town is also somebody's name."""
    draw = np.random.default_rng(seed)
    age = np.sort(draw.integers(20, 60, n))
    names = [f"Ida Kvist-{row}" for row in range(n)]
    names[3] = "Visby"
    return pa.table(
        {
            "who": names,
            "number": 100_000 + np.arange(n),
            "age": age,
            "town": [("Visby", "Lund", "Ystad")[place] for place in draw.integers(0, 3, n)],
            "ill": [ILLS[place] for place in draw.integers(0, len(ILLS), n)],
            "note": [("", "called twice", "moved to Lund")[place] for place in draw.integers(0, 3, n)],
        }
    )
