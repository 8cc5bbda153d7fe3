"""Figures for people, by hand: no page looks safer than the numbers are."""

from undercover.model.figures import (
    baseline,
    cost,
    memory,
    number,
    outwards,
    parameters,
    risk,
    rows,
    seconds,
    signed,
    span,
)


def test_risks_are_rounded_up_and_guessing_down() -> None:
    assert (risk(0.1), risk(0.12345), risk(0.0000333), risk(0), risk(0.99999)) == (
        "10%",
        "12.4%",
        "0.0034%",
        "0%",
        "100%",
    )
    assert (baseline(0.12345), baseline(0.99999), baseline(0.3)) == ("12.3%", "99.9%", "30%")


def test_costs_are_rounded_up() -> None:
    assert (cost(0.010001), cost(0.5), cost(0), cost(1.0), cost(12345.6)) == ("0.0101", "0.5", "0", "1", "12,346")


def test_numbers_and_rows() -> None:
    assert (number(30000), number(12.3456), number(1234.5), number(0.0), number(7.0)) == (
        "30,000",
        "12.3",
        "1,234",
        "0",
        "7",
    )
    assert (rows(1), rows(1200)) == ("1 row", "1,200 rows")


def test_bounds_are_rounded_outwards() -> None:
    assert (outwards(12.345), outwards(12.345, up=True), outwards(1234.0), outwards(-0.1234)) == (
        "12.3",
        "12.4",
        "1,234",
        "-0.124",
    )


def test_changes_have_their_sign() -> None:
    assert (signed(0.12345), signed(-0.5), signed(0.00001)) == ("0.123", "-0.5", "0")


def test_time_and_memory() -> None:
    assert (seconds(0.0004), seconds(0.1234), seconds(12.34), seconds(125)) == (
        "under 1 ms",
        "123 ms",
        "12.3 s",
        "2 min 5 s",
    )
    assert (memory(0), memory(1_500_000), memory(47_200_000), memory(2_340_000_000)) == (
        "under 1 MB",
        "1.5 MB",
        "48 MB",
        "2.4 GB",
    )


def test_spans_of_a_histogram() -> None:
    assert (span({"from": 5, "to": 9}), span({"from": 1, "to": 1}), span({"from": 100, "to": None})) == (
        "5–9",
        "1",
        "100+",
    )


def test_parameters_in_one_line() -> None:
    assert (
        parameters({"k": 5, "l": 3, "seed": None, "hierarchy": [["a", "*"]] * 20})
        == "k = 5, l = 3, hierarchy = 20 entries"
    )
