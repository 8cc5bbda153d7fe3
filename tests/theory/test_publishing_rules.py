"""Somebody who knows the rule by which the set or the partition was chosen: outside what the paper proves."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

from theory_tables import FIVE, NINE, TWO_THIRDS, without

from undercover.methods.streamliner.theory.safe_sets import (
    Guess,
    MentalImage,
    disclosure_set,
    is_strongly_globally_safe,
    largest_strongly_globally_safe_set,
    locally_safe_set,
)
from undercover.methods.streamliner.theory.tables import MicroTable, Partition, partition_of, text

SAFE_FIVE = frozenset(without("P3", "P6", "P7", "P8"))


@cache
def publish_the_largest(table: MicroTable) -> frozenset[Partition]:
    return largest_strongly_globally_safe_set(table, TWO_THIRDS)


def test_publishing_the_largest_safe_set_gives_eve_away_to_who_knows_the_rule() -> None:
    published = publish_the_largest(FIVE)
    assert published == SAFE_FIVE
    assert is_strongly_globally_safe(FIVE, published, TWO_THIRDS)
    known_to_be_safe = disclosure_set(FIVE, published, TWO_THIRDS)
    assert known_to_be_safe.risk() == Fraction(2, 5)
    image = known_to_be_safe.knowing_rule(publish_the_largest, published)
    assert len(image.tables) == 2
    assert image.surest() == Guess("E", "HIV", Fraction(1))


def test_a_rule_that_does_not_look_at_the_table_gives_nothing_away() -> None:
    image = disclosure_set(FIVE, SAFE_FIVE, TWO_THIRDS)
    assert image.knowing_rule(lambda table: SAFE_FIVE, SAFE_FIVE) == image


def test_choosing_inside_a_safe_set_by_the_secret_values_gives_them_away() -> None:
    """The choice inside the set is harmless only as far as the adversary could have made it himself."""

    def choose(table: MicroTable) -> Partition:
        return NINE["P1"] if table["E"] == "HIV" else NINE["P2"]

    image = disclosure_set(FIVE, SAFE_FIVE, TWO_THIRDS).seeing_release(FIVE, choose(FIVE))
    assert image.keeps(TWO_THIRDS)
    assert image.knowing_rule(choose, choose(FIVE)).surest() == Guess("E", "HIV", Fraction(1))


def test_taking_the_first_safe_partition_gives_everything_away() -> None:
    """The minimality attack in small: that ABC|DE was passed over says that D and E have the same condition."""

    def first_safe(table: MicroTable) -> Partition:
        safe = [partition for partition in locally_safe_set(table, TWO_THIRDS) if len(partition) == 2]
        return min(safe, key=text)

    truth = MicroTable(FIVE.identifiers, ("flu", "flu", "HIV", "cold", "cold"))
    published = first_safe(truth)
    assert text(published) == "ABD|CE"
    image = MentalImage.before_release(truth).seeing_release(truth, published)
    assert (len(image.tables), image.risk()) == (6, Fraction(2, 3))
    assert image.knowing_rule(first_safe, published).tables == (truth,)


def test_pairing_with_the_nearest_gives_everything_away() -> None:
    """The guided algorithm in its smallest form, l = 2 and counts (2, 1, 1): one table leads to this release."""

    def nearest(table: MicroTable) -> Partition:
        people = max(table.colours().values(), key=len)
        free, groups = set(table.identifiers) - people, []
        for person in sorted(people):
            partner = min(free, key=lambda other: (abs(int(other) - int(person)), other))
            free.remove(partner)
            groups.append([person, partner])
        return partition_of(groups)

    truth = MicroTable(tuple("1234"), ("s1", "s1", "s2", "s3"))
    published = nearest(truth)
    assert text(published) == "13|24"
    image = MentalImage.before_release(truth).seeing_release(truth, published)
    assert (len(image.tables), image.risk()) == (4, Fraction(1, 2))
    assert image.knowing_rule(nearest, published).tables == (truth,)
