"""What several rooms of the tests share."""

import gc
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

import pytest
from hypothesis import settings
from scipy import stats

from effort import TIMES
from undercover.model.view import Picture
from undercover.pages import jinja
from undercover.pages.svg import svg

# The first call of a kernel compiles it, so no example has a deadline.
settings.register_profile("undercover", deadline=None, print_blob=True, max_examples=100 * TIMES)
settings.load_profile("undercover")


@pytest.fixture(scope="module", autouse=True)
def settled() -> None:
    """What is there before a file's tests stays to the end: whoever looks for garbage need not go through it again."""
    gc.collect()
    gc.freeze()


def frame(picture: Picture, name: str = "") -> str:
    """A picture with its sentence and nothing in it."""
    sentence = picture.sentence
    return f'<svg role="img" aria-label={quoteattr(sentence)} class="chart"><title>{escape(sentence)}</title></svg>'


@pytest.fixture(scope="module", autouse=True)
def undrawn() -> Iterator[None]:
    """Pages have empty frames for pictures: to draw those of one report takes more than a second."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jinja, "svg", frame)
        yield


@pytest.fixture(scope="module")
def drawn(undrawn: None) -> Iterator[None]:
    """Pictures are drawn after all, for tests that look at pages."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jinja, "svg", svg)
        yield


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
