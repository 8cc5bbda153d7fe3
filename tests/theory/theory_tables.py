"""The tables of the paper and random ones of a few people."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from undercover.methods.streamliner.theory.candidates import Candidate, deal_candidate
from undercover.methods.streamliner.theory.tables import HighestRatio, MicroTable, parse

TWO_THIRDS = HighestRatio(Fraction(2, 3))

# Table 1: Ada, Bob, Coy, Dan and Eve by their initials.
FIVE = MicroTable(tuple("ABCDE"), ("flu", "flu", "cold", "cold", "HIV"))
NINE = {
    name: parse(written)
    for name, written in {
        "P1": "AC|BDE",
        "P2": "AD|BCE",
        "P3": "AE|BCD",
        "P4": "BC|ADE",
        "P5": "BD|ACE",
        "P6": "BE|ACD",
        "P7": "CE|ABD",
        "P8": "DE|ABC",
        "P9": "ABCDE",
    }.items()
}

# Table 3.
FOUR = MicroTable(tuple("1234"), ("s1", "s1", "s2", "s2"))


def without(*names: str) -> list[frozenset[frozenset[str]]]:
    """The nine partitions but those named."""
    return [partition for name, partition in NINE.items() if name not in names]


@st.composite
def tables(draw: st.DrawFn, *, most: int = 7) -> MicroTable:
    """A table of up to ``most`` people that is at least 2-eligible."""
    values = draw(
        st.lists(st.sampled_from("abcd"), min_size=3, max_size=most).filter(
            lambda drawn: max(map(drawn.count, drawn)) * 2 <= len(drawn)
        )
    )
    return MicroTable(tuple("1234567"[: len(values)]), tuple(values))


@st.composite
def tables_with_candidates(draw: st.DrawFn, *, most: int = 7) -> tuple[MicroTable, int, tuple[Candidate, ...]]:
    """A table, an l that it can reach, and l-candidates in rows of different colours, dealt anew for each colour."""
    table = draw(tables(most=most))
    l = draw(st.integers(2, table.largest_l()))  # noqa: E741
    candidates = tuple(
        deal_candidate(table, colour, l, order=draw(st.permutations(table.identifiers)))
        for colour in table.colours().values()
    )
    return table, l, candidates
