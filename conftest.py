"""What tests and the examples of pages and docstrings share."""

from collections.abc import Iterator

import pytest
from tests.pictures import framed


@pytest.fixture(scope="module", autouse=True)
def undrawn() -> Iterator[None]:
    """Pages have frames for pictures, unless a test or a file asks for what follows."""
    with framed():
        yield
