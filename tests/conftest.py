"""What several rooms of the tests share."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import settings
from scipy import stats

# The first call of a kernel compiles it, so no example has a deadline.
settings.register_profile("undercover", deadline=None, print_blob=True)
settings.load_profile("undercover")

DISEASES = ("flu", "cold", "asthma", "ulcer", "gout", "angina", "fever", "rash")


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """A CSV file of 240 people with a name, three quasi-identifiers and a disease; every disease 30 times."""
    lines = ["name,age,sex,zip,disease"]
    for i in range(240):
        age, sex, town = 20 + (i * 37) % 55, "MF"[(i // 3) % 2], 10000 + (i * 7919) % 900
        lines.append(f"Person-{i:04d},{age},{sex},{town},{DISEASES[(i * 5 + i // 8) % 8]}")
    path = tmp_path / "people.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def uniform() -> Callable[[Sequence[int]], bool]:
    """Whether counts look like draws from a uniform distribution: the chi-square test at one in a million."""

    def looks_uniform(counts: Sequence[int]) -> bool:
        assert min(sum(counts) / len(counts), 5) == 5, "too few draws for a chi-square test"
        return bool(stats.chisquare(list(counts)).pvalue > 1e-6)

    return looks_uniform
