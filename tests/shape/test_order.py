"""Every worker begins with what takes longest."""

import os

import pytest


def test_each_share_of_the_tests_begins_with_its_long_ones(request: pytest.FixtureRequest) -> None:
    long = [item.get_closest_marker("long") is not None for item in request.session.items]
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    for worker in range(workers):
        share = long[len(long) * worker // workers : len(long) * (worker + 1) // workers]
        assert share == sorted(share, reverse=True)
