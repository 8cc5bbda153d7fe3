"""One session for all tests of Spark."""

from collections.abc import Iterator
from typing import Any

import pytest
from far_people import people
from short_java import RUNS_SHORTLY

from undercover.engines.spark.engine import SparkEngine
from undercover.engines.spark.session import session_of


@pytest.fixture(scope="session")
def session() -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("JDK_JAVA_OPTIONS", RUNS_SHORTLY)
        started = session_of(2)
    yield started
    started.stop()


@pytest.fixture(scope="session")
def engine(session: Any) -> SparkEngine:
    return SparkEngine(session=session, parts=2, threads=2)


@pytest.fixture(scope="session")
def frame(session: Any) -> Any:
    return session.createDataFrame(people())
