"""The adversary who knows the algorithm looks at everything that is published: one planted leak for every channel.

Each leaky method is an honest one with a single fault, declares that it is safe, and is caught in the channel of its
fault; the honest one is not.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import undercover as uc
from undercover import plugins
from undercover.errors import UnreachableError
from undercover.forms import read
from undercover.model.about import about_of
from undercover.model.groups import Groups
from undercover.model.release import PublishedTable
from undercover.model.run import Draft
from undercover.model.table import Table
from undercover.randomness import Randomness
from undercover.studies.algorithm_aware.attack import AlgorithmAware, AlgorithmAwareResult
from undercover.testing.tables import people
from undercover.verbs.publish import publish_table

FOUR = people((0, 1, 2, 3), (2, 2))
TRIALS = 250

Change = Callable[[Draft, Table, Randomness], Draft]


def attacked(method: Any, table: Table = FOUR, trials: int = TRIALS, **how: Any) -> AlgorithmAwareResult:
    return AlgorithmAware(trials=trials, **how).on(table, method, randomness=Randomness(11))


class Pairs(uc.Mondrian):
    """Mondrian with one thing changed; what it lists is not trusted, for it makes tables of its own."""

    change: Change = staticmethod(lambda draft, table, randomness: draft)

    def anonymize(self, table: Table, *, randomness: Randomness, **how: Any) -> Draft:
        draft = super().anonymize(table, randomness=randomness, **how)
        return type(self).change(draft, table, randomness)


def pairs(change: Change) -> Pairs:
    return type("Changed", (Pairs,), {"change": staticmethod(change)})(k=2)


def faultless(draft: Draft, table: Table, randomness: Randomness) -> Draft:
    return draft


@cache
def of_pairs(change: Change) -> AlgorithmAwareResult:
    """What is found of pairs with this change; several tests look at the same."""
    return attacked(pairs(change))


@cache
def of_wrap() -> AlgorithmAwareResult:
    return attacked(uc.Streamliner(l=2))


def value_of(table: Table, row: int = 0) -> str:
    return table["s"].domain.labels[int(table["s"].codes[row])]


def changed(draft: Draft, data: pa.Table) -> Draft:
    (published,) = draft.tables
    return replace(draft, tables=(PublishedTable(published.name, published.columns, data),))


def plain(draft: Draft) -> dict[str, list[Any]]:
    return draft.tables[0].data.to_pydict()


def in_input_order(draft: Draft, table: Table, randomness: Randomness) -> Draft:
    x = ["[0, 1]" if row < 2 else "[2, 3]" for row in range(4)]
    return changed(draft, pa.table({"x": x, "s": [value_of(table, row) for row in range(4)]}))


def cells_by_value(draft: Draft, table: Table, randomness: Randomness) -> Draft:
    columns = plain(draft)
    if value_of(table) == "s1":
        columns["x"] = ["[0, 2]" if cell == "[0, 1]" else cell for cell in columns["x"]]
    return changed(draft, pa.table(columns))


def groups_by_value(draft: Draft, table: Table, randomness: Randomness) -> Draft:
    if value_of(table) == "s1":
        return draft
    columns = plain(draft)
    together = changed(draft, pa.table({**columns, "x": ["[0, 3]"] * 4}).sort_by("s"))
    return replace(together, groups=Groups(np.zeros(4, np.int32), 1))


def suppressed_by_value(draft: Draft, table: Table, randomness: Randomness) -> Draft:
    """Who has s2 beside another who has it is left out, with the other of the pair."""
    alike = [value_of(table, row) == value_of(table, row + 1) == "s2" for row in (0, 2)]
    if not any(alike):
        return draft
    kept = np.array([row for row in range(4) if not alike[row // 2]], dtype=np.int64)
    cells = [f"[{row // 2 * 2}, {row // 2 * 2 + 1}]" for row in kept]
    data = pa.table({"x": cells, "s": [value_of(table, row) for row in kept]})
    return replace(changed(draft, data), groups=Groups(np.zeros(2, np.int32), 1), kept=kept, suppressed=2)


def refused_by_value(draft: Draft, table: Table, randomness: Randomness) -> Draft:
    if value_of(table) == "s1":
        raise UnreachableError("This cannot be published.")
    return draft


def told_when_refused(draft: Draft, table: Table, randomness: Randomness) -> Draft:
    if randomness.words("whether to refuse", 1)[0] % 2:
        raise UnreachableError(f"It cannot be published that the first one has {value_of(table)}.")
    return draft


def broken_by_value(draft: Draft, table: Table, randomness: Randomness) -> Draft:
    return draft if value_of(table) == "s2" else {}[1]


def in_the_manifest(draft: Draft, table: Table, randomness: Randomness) -> Draft:
    return replace(draft, used={"hint": value_of(table)})


def in_the_form(draft: Draft, table: Table, randomness: Randomness) -> Draft:
    return replace(draft, form=replace(draft.form, one_level=value_of(table) == "s1"))


def in_a_dictionary(draft: Draft, table: Table, randomness: Randomness) -> Draft:
    data = draft.tables[0].data
    names = ["s1", "s2"] if value_of(table) == "s1" else ["s2", "s1"]
    values = data["s"].to_pylist()
    coded = pa.DictionaryArray.from_arrays(pa.array([names.index(value) for value in values]), pa.array(names))
    return changed(draft, data.set_column(data.column_names.index("s"), "s", coded))


def one_draw_for_two(draft: Draft, table: Table, randomness: Randomness) -> Draft:
    """The word that decides which of the first pair comes first stands in the manifest, too; each alone is chance."""
    word = int(randomness.words("shuffle", 1)[0] % 2)
    values = [value_of(table, row) for row in range(4)]
    first = [values[word], values[1 - word]]
    data = pa.table({"x": ["[0, 1]"] * 2 + ["[2, 3]"] * 2, "s": first + sorted(values[2:])})
    return replace(changed(draft, data), used={"number": word})


PLANTED: list[tuple[str, Change, str]] = [
    ("order", in_input_order, "values in order"),
    ("cells", cells_by_value, "rows"),
    ("sizes", groups_by_value, "groups"),
    ("suppression", suppressed_by_value, "who is suppressed"),
    ("refusal", refused_by_value, "groups"),
    ("exception", broken_by_value, "groups"),
    ("manifest", in_the_manifest, "release.json"),
    ("form", in_the_form, "release.json"),
    ("reused randomness", one_draw_for_two, "everything together"),
    ("dictionary", in_a_dictionary, "how columns are stored"),
]


def test_without_a_fault_nothing_is_found() -> None:
    found = of_pairs(faultless)
    assert (found.safe, found.exact, found.refusal) == (True, False, None)
    assert found.draws == TRIALS


@pytest.mark.parametrize(("change", "channel"), [planted[1:] for planted in PLANTED], ids=[p[0] for p in PLANTED])
def test_a_planted_leak_is_caught_in_its_channel(change: Change, channel: str) -> None:
    assert pairs(change).algorithm_safe
    found = of_pairs(change)
    assert not found.safe
    assert channel in found.leaks
    assert found.leaks[channel].gain > 0.2
    assert found.declared_safe


def test_what_a_refusal_says_is_counted_though_releases_say_nothing() -> None:
    found = attacked(pairs(told_when_refused))
    assert found.safe
    assert found.refusal_tells
    assert found.refusal is not None
    assert (found.refusal.channel, found.refusal.posterior) == ("message of a refusal", 1)
    quiet = of_pairs(refused_by_value)
    assert quiet.refusal is not None
    assert (quiet.refusal.row, quiet.refusal.value) in {(0, "s1"), (0, "s2")}


def test_words_of_a_method_that_tell_of_a_person_are_found_on_the_datasheet(monkeypatch: pytest.MonkeyPatch) -> None:
    from undercover.pages import words

    stash = {}

    def remembering(draft: Draft, table: Table, randomness: Randomness) -> Draft:
        stash["value"] = value_of(table)
        return draft

    about = replace(about_of("mondrian"), did=lambda release: f"The first one has {stash['value']}.")
    monkeypatch.setattr(words, "about_of", lambda name: about)
    found = attacked(pairs(remembering))
    assert set(found.leaks) == {"datasheet"}


class NumberedByValue(uc.Anatomy):
    """Buckets are numbered by whether the first of their people has the first of their values."""

    def anonymize(self, table: Table, **how: Any) -> Draft:
        draft = super().anonymize(table, **how)
        codes = table["s"].codes
        lowest = [draft.groups.rows_of(group).min() for group in range(draft.groups.count)]
        asked = [codes[row] == codes.min() for row in lowest]
        numbers = np.argsort(np.argsort(asked, kind="stable")).astype(np.int32)
        qit, sat = draft.tables
        place = {old: int(new) for old, new in enumerate(numbers)}
        tables = []
        for published in (qit, sat):
            data = published.data.to_pydict()
            data["bucket"] = [place[number] for number in data["bucket"]]
            arrow = pa.table(data)
            tables.append(replace(published, data=arrow.sort_by([(name, "ascending") for name in arrow.column_names])))
        labels = numbers[draft.groups.labels]
        return replace(draft, tables=tuple(tables), groups=Groups(labels, draft.groups.count), buckets=labels)


def test_numbers_of_groups_that_tell_are_caught() -> None:
    table = people((0, 1, 2, 3), (2, 2))
    assert attacked(uc.Anatomy(l=2), table).safe
    found = attacked(NumberedByValue(l=2), table, trials=500)
    assert not found.safe
    assert "rows" in found.leaks


class ListsAnother(uc.Streamliner):
    """Lists what `wrap` does, and puts people together in the order they come."""

    def outcomes(self, table: Table) -> Iterator[Any]:
        yield from uc.Streamliner(l=self.l).outcomes(table)

    def groups(self, table: Table, randomness: Randomness) -> Groups:
        deal = self._deal(table, "s")
        return deal_of(deal.assign(deal.slots), deal.count)


def deal_of(labels: Any, count: int) -> Groups:
    from undercover.steps.dealing.groups import lay_out

    return lay_out(labels, count)


class ListsOften(uc.Streamliner):
    """What it does, but with probabilities of its own: the first way always more likely than it is."""

    def outcomes(self, table: Table) -> Iterator[Any]:
        ways = list(uc.Streamliner(l=self.l).outcomes(table))
        for place, (chance, seen) in enumerate(ways):
            yield chance / 2 + (Fraction(1, 2) if not place else 0), seen


@pytest.mark.parametrize("method", [ListsAnother(l=2), ListsOften(l=2)], ids=lambda one: type(one).__name__)
def test_outcomes_that_are_not_what_is_drawn_are_caught(method: Any) -> None:
    assert of_wrap().differs is None
    found = attacked(method)
    assert found.differs is not None
    assert not found.safe


class Retries(uc.Streamliner):
    """Draws ten times and publishes what is narrowest."""

    def groups(self, table: Table, randomness: Randomness) -> Groups:
        x = table["x"].codes.astype(int)
        drawn = [
            uc.Streamliner(l=2).groups(table, Randomness(int(word))) for word in randomness.words("again and again", 10)
        ]
        return min(drawn, key=lambda made: sum(np.ptp(x[made.rows_of(group)]) for group in range(made.count)))


def test_a_method_that_draws_again_until_it_likes_the_result_is_caught() -> None:
    """Neighbours are apart only where they have the same value: whoever knows one of them knows the other.

    (What it tells to somebody who knows nothing is listed in tests/attacks/test_algorithm_aware.py.)
    """
    table = people((0, 1, 10, 11), (2, 1, 1))
    assert attacked(uc.Streamliner(l=2), table, known=1).safe
    leak = attacked(Retries(l=2), table, trials=600, known=1).leaks["groups"]
    assert leak.posterior in (0, 1)
    assert leak.alone == Fraction(1, 2)


class Seeded(uc.Streamliner):
    """The same numbers every time."""

    def groups(self, table: Table, randomness: Randomness) -> Groups:
        return super().groups(table, Randomness(1))


def test_randomness_that_is_the_same_every_time_is_caught() -> None:
    assert not attacked(Seeded(l=2), people((0, 1, 2, 3), (2, 1, 1))).safe


def test_one_known_value_tells_of_other_groups_where_rows_are_zipped() -> None:
    """x = 0..3, s = (a, a, b, b), l = 2: whoever knows one value is certain of the other group, but not with `wrap`."""
    guided = attacked(uc.Streamliner(l=2, algorithm="guided"), trials=50, known=1)
    assert not guided.safe
    leak = guided.leaks["groups"]
    assert (leak.posterior in (0, 1), leak.alone) == (True, Fraction(1, 2))
    assert len(leak.known) == 1
    (mine,) = [rows for rows, _ in leak.groups if leak.row in rows]
    assert leak.known[0][0] not in mine
    assert attacked(uc.Streamliner(l=2, algorithm="guided"), trials=50).safe
    assert attacked(uc.Streamliner(l=2), trials=50, known=1).safe


def test_groups_that_are_reported_as_single_people_are_told() -> None:
    """Whoever says that everybody is a group by himself would be certain beforehand, and nothing could tell more."""

    def alone(draft: Draft, table: Table, randomness: Randomness) -> Draft:
        return replace(draft, groups=Groups(np.arange(table.n_rows, dtype=np.int32), table.n_rows))

    found = attacked(pairs(alone))
    assert not found.safe
    assert found.differs == "the run reports groups of 1, and k-anonymity promises k = 2 of each"
    assert "does not do what it says" in repr(found)
    assert of_pairs(faultless).differs is None


def declared(name: str) -> list[Any]:
    made = [
        plugins.load("methods", name)(**example.parameters)
        for example in about_of(name).examples
        if example.expected == "safe"
    ]
    return [method for method in made if getattr(method, "corruption_robust", False)]


ROBUST = [method for name in plugins.BUILT_IN["methods"] for method in declared(name)]


@pytest.mark.parametrize("method", ROBUST, ids=repr)
def test_methods_that_say_so_tell_nothing_to_whoever_knows_two_values(method: Any) -> None:
    for x, counts in (((0, 1, 2, 3), (2, 2)), ((0, 1, 2, 3), (1, 1, 1, 1)), ((0, 0, 1, 1, 4, 5), (2, 2, 2))):
        if max(counts) * (getattr(method, "l", None) or 1) > len(x):
            continue
        if len(x) > 4 and read(publish_table(people(x, counts), method).release).channel is not None:
            continue  # slow: every value of every cell is gone through as well
        found = attacked(method, people(x, counts), trials=20, known=2)
        assert found.exact
        assert found.safe, found.largest_gain
        assert found.declared_robust


def test_which_algorithms_are_robust() -> None:
    robust = {name: uc.Streamliner(l=2, algorithm=name).corruption_robust for name in ("wrap", "rda", "guided", "ria")}  # type: ignore[arg-type]
    assert robust == {"wrap": True, "rda": True, "guided": False, "ria": False}
    schema = uc.Schema(quasi_identifiers=["x"], sensitive="s")
    data = pa.table({"x": [0, 1, 2, 3], "s": ["a", "a", "b", "b"]})
    assert uc.publish(data, schema, uc.Streamliner(l=2)).release.corruption_robust
    assert not uc.publish(data, schema, uc.Streamliner(l=2, algorithm="guided")).release.corruption_robust
    assert not uc.publish(data, schema, uc.Mondrian(k=2, l=2)).release.corruption_robust


UNSAFE = [
    plugins.load("methods", name)(**example.parameters)
    for name in plugins.BUILT_IN["methods"]
    for example in about_of(name).examples
    if example.expected == "unsafe"
]


@pytest.mark.parametrize("method", UNSAFE, ids=repr)
def test_the_order_of_rows_tells_nothing_even_where_knowing_the_method_does(method: Any) -> None:
    """All values differ, so that no grouping depends on whose is whose: what is told then is told by the order.

    (Of methods that are safe nothing at all is told, their order included: tests/conformance/test_plugins.py.)
    """
    table = people((0, 1, 2, 3), (1, 1, 1, 1))
    found = attacked(method, table, trials=150)
    assert "values in order" not in found.leaks


def test_power_is_what_it_says() -> None:
    """A leak of the stated size, in as many releases as stated, is found; with the honest method nothing is."""
    trials = 1_200
    honest = attacked(pairs(faultless), trials=trials)
    assert honest.safe
    assert 0.2 < honest.power < 0.5

    def rarely(draft: Draft, table: Table, randomness: Randomness) -> Draft:
        """Seen in one release of ``rarity``, after which the first one has s1 with probability 1/2 + power."""
        shift = honest.power if value_of(table) == "s1" else -honest.power
        told = randomness.words("whether to tell", 1)[0] / 2**32 < 2 * (0.5 + shift) / honest.rarity
        return replace(draft, used={"hint": bool(told)})

    assert "release.json" in attacked(pairs(rarely), trials=trials).leaks
