"""Identifiers in other texts: what is found is what a plain search finds, of few texts as of many."""

import re

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from undercover.io import tokens
from undercover.io.tokens import Held, Identifiers

PIECES = st.lists(
    st.sampled_from(["Ann", "ann", "Li", "12", "345678", "é", "_", " ", "-", ", ", "@", "\n"]), max_size=8
)
WORDS = st.builds("".join, PIECES)


def plainly(values: list[str], texts: list[str]) -> set[Held]:
    """The same by a search for every value in every text."""
    found = set()
    for value in values:
        plain = value.lower().strip(tokens._AROUND)
        number = re.fullmatch(r"[+-]?[0-9]*[.,]?[0-9]+", plain)
        edges = plain[:1].isalnum() and plain[-1:].isalnum()
        if not plain or (number and len(plain) < 6) or not edges or "_" in plain:
            continue
        pattern = rf"(?<!\w){re.escape(plain)}(?!\w)"
        found |= {Held(place, "name", plain) for place, text in enumerate(texts) if re.search(pattern, text.lower())}
    return found


@given(st.lists(WORDS, min_size=1, max_size=4), st.lists(WORDS, min_size=1, max_size=4))
def test_found_is_what_stands_there(values: list[str], texts: list[str]) -> None:
    found = {one for one in Identifiers.of({"name": pa.array(values)}).held_in(pa.array(texts)) if "_" not in one.value}
    assert {one for one in found if one.value[:1].isalnum() and one.value[-1:].isalnum()} == plainly(values, texts)


def test_of_many_texts_as_of_few(monkeypatch: pytest.MonkeyPatch) -> None:
    known = Identifiers.of(
        {"name": pa.array(["Ann Li", "Bo-Bo", "x"]).dictionary_encode(), "id": pa.array([123456, 7])}
    )
    texts = pa.chunked_array([["by ann LI.", "bo bo", None, ""], ["7, 123456", "bo-bo\n!", "x2"]])
    few = known.held_in(texts)
    assert [one[:2] for one in few] == [(0, "name"), (4, "id"), (5, "name")]
    monkeypatch.setattr(tokens, "_MANY", 0)
    assert known.held_in(texts) == few


def test_of_more_values_than_are_held_some_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "MOST_VALUES", 10)
    assert len(Identifiers.of({"name": pa.array([f"n{number}" for number in range(100)])})) == 10
