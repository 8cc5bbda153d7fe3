"""Both workers begin with what takes longest."""

import pytest


def test_each_half_of_the_tests_begins_with_its_long_ones(request: pytest.FixtureRequest) -> None:
    long = [item.get_closest_marker("long") is not None for item in request.session.items]
    for half in (long[: len(long) // 2], long[len(long) // 2 :]):
        assert half == sorted(half, reverse=True)
