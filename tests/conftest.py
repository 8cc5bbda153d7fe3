"""What several rooms of the tests share."""

import gc
import os
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import settings
from scipy import stats

from effort import TIMES
from pictures import drawing
from undercover.model.policy import POLICIES

# The first call of a kernel compiles it, so no example has a deadline.
settings.register_profile("undercover", deadline=None, print_blob=True, max_examples=100 * TIMES)
settings.load_profile("undercover")


# Garbage is looked for before every file; in between a hundred times as seldom as usual, a thirtieth of the time.
gc.set_threshold(100_000)


@pytest.fixture(scope="module", autouse=True)
def settled() -> None:
    """What is there before a file's tests stays to the end: whoever looks for garbage need not go through it again."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest is begun first, a file by one worker: each starts with an equal share of the tests, in order.

    Last of all, when what is not asked for is gone: otherwise shares are not where they are thought to be, and what the
    tests of a file share is made by several workers.
    """
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    for item in filter(_on_spark, items):
        item.add_marker(pytest.mark.long)
    long = [item for item in items if item.get_closest_marker("long")]
    rest = iter([item for item in items if not item.get_closest_marker("long")])
    places = sorted({_place(item) for item in long})
    ordered: list[pytest.Item] = []
    for worker in range(workers):
        ordered += [item for place in places[worker::workers] for item in long if _place(item) == place]
        ordered += islice(rest, max(len(items) * (worker + 1) // workers - len(ordered), 0))
    ordered += rest
    assert len(ordered) == len(items)
    items[:] = ordered


def _place(item: pytest.Item) -> str:
    """The tests that one worker begins with together: those of a file, and all that share a session of Spark."""
    return "Spark" if _on_spark(item) else str(item.path)


def _on_spark(item: pytest.Item) -> bool:
    examples = item.dtest.examples if isinstance(item, pytest.DoctestItem) else ()
    return "session" in getattr(item, "fixturenames", ()) or any("SparkEngine(" in one.source for one in examples)


def pytest_sessionfinish() -> None:
    """At the very end everything may go: libraries that count what they handed out would complain."""
    gc.unfreeze()


@pytest.fixture
def drawn() -> Iterator[None]:
    """Pictures are drawn after all, for a test that looks at a page; elsewhere they have frames."""
    with drawing():
        yield


@pytest.fixture(scope="module")
def all_drawn(undrawn: None) -> Iterator[None]:
    """The same for all tests of a file."""
    with drawing():
        yield


@pytest.fixture(scope="module")
def unjudged() -> Iterator[None]:
    """Whoever names no policy has none: for tests of few people that look at something else than the verdict."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("undercover.model.policy.STANDARD", POLICIES["none"])
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


@pytest.fixture(autouse=True)
def usual_modes() -> Iterator[None]:
    """Whatever a test serves or writes in private, the next one finds the usual modes of files."""
    before = os.umask(0o022)
    yield
    os.umask(before)
