"""Every check of undercover.testing finds what it is there for: one fault each, planted."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import EntryPoint
from typing import Any, ClassVar

import numpy as np
import pytest

import undercover as uc
from undercover import plugins
from undercover.engines.cube import rows_of
from undercover.engines.local import LocalEngine
from undercover.engines.parts import divide
from undercover.errors import ParameterError
from undercover.forms.classes import Classes
from undercover.forms.estimates import Estimates
from undercover.forms.generalized.reading import PLUGIN as GENERALIZED
from undercover.forms.reading import FormPlugin
from undercover.model.about import About, Example, about_of
from undercover.model.beliefs import JointBeliefs
from undercover.model.finding import Finding
from undercover.model.form import Generalized
from undercover.model.groups import Groups
from undercover.model.run import Draft, Run
from undercover.model.table import Table
from undercover.randomness import Randomness
from undercover.testing import check_attack, check_engine, check_form, check_guarantee, check_method
from undercover.testing.tables import people, tiny
from undercover.verbs.publish import publish_table

SIX = (people((0, 0, 1, 1, 1, 1), (2, 2, 2)),)


def offer(monkeypatch: pytest.MonkeyPatch, kind: str, name: str, what: str) -> None:
    point = EntryPoint(name, f"{__name__}:{what}", f"undercover.{kind}")
    monkeypatch.setattr(plugins, "_installed", lambda asked: {name: point} if asked == kind else {})
    about_of.cache_clear()


class Overpromising(uc.Mondrian):
    def claims(self, table: Table) -> tuple[Any, ...]:
        return (uc.KAnonymity(k=100),)


class Forgetful(uc.Mondrian):
    """Draws beside what it was handed."""

    def anonymize(self, table: Table, *, randomness: Randomness, **how: Any) -> Draft:
        return super().anonymize(table, randomness=Randomness(), **how)


class ByThreads(uc.Mondrian):
    def anonymize(self, table: Table, *, engine: Any, randomness: Randomness, **how: Any) -> Draft:
        return super().anonymize(table, engine=engine, randomness=Randomness(engine.threads), **how)


class Talkative(uc.Mondrian):
    """Says in public whose table it was."""

    name: ClassVar[str] = "talkative"

    def anonymize(self, table: Table, **how: Any) -> Draft:
        draft = super().anonymize(table, **how)
        return replace(
            draft, used={"dropped": [str(table["years"].domain.labels[0])]} if "years" in table.columns else {}
        )


class Leaky(uc.Streamliner):
    """Whose partner stands where depends on the sensitive value, and yet it declares itself safe."""

    def groups(self, table: Table, randomness: Randomness) -> Groups:
        codes = table[table.schema.sensitive[0]].codes
        others = np.flatnonzero(codes != codes[0])
        partner = others[0 if codes[0] == codes.min() else -1]
        return Groups(np.isin(np.arange(len(codes)), (0, partner)).astype(np.int32), 2)


METHODS: Mapping[str, tuple[Any, str]] = {
    "a claim that does not hold": (Overpromising(k=2), "own claim does not hold"),
    "draws of its own": (Forgetful(k=2), "another release with the same seed"),
    "threads with a say": (ByThreads(k=2), "another release with the same seed, on 1 thread or on 3"),
    "a cell in public": (Talkative(k=2), "tells of people: .*years"),
    "an algorithm that tells": (Leaky(l=2), "knowing the algorithm does not help. It does"),
}


@pytest.mark.parametrize("fault", METHODS)
def test_of_a_method(fault: str) -> None:
    method, said = METHODS[fault]
    with pytest.raises(AssertionError, match=said):
        check_method(method, tables=SIX, trials=150)


@dataclass(frozen=True, kw_only=True)
class Misjudged(uc.Mondrian):
    """Its examples are wrong."""

    name: ClassVar[str] = "misjudged"
    about: ClassVar[str] = f"{__name__}:EXAMPLES"


EXAMPLES: About


@pytest.mark.parametrize(
    ("example", "said"),
    [
        (Example({"k": 2}, "unreachable"), "said to be out of reach, and was reached"),
        (Example({"k": 2, "l": 2}, "safe"), "an example of safe, but declares the contrary"),
        (Example({"k": 6, "l": 2}, "unsafe"), "no table of these gives anything away"),
    ],
    ids=lambda given: getattr(given, "expected", ""),
)
def test_of_examples(example: Example, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    offer(monkeypatch, "methods", "misjudged", "Misjudged")
    examples = (Example({"k": 2}, "safe"), example)
    monkeypatch.setitem(globals(), "EXAMPLES", About(title="Misjudged", did=lambda release: "", examples=examples))
    with pytest.raises(AssertionError, match=said):
        check_method("misjudged", tables=SIX, trials=150)
    about_of.cache_clear()


@dataclass(frozen=True, kw_only=True)
class Planted(Generalized):
    name: ClassVar[str] = "planted"


@dataclass(frozen=True, kw_only=True)
class Listing(Generalized):
    """Does not come back from JSON as it was."""

    name: ClassVar[str] = "planted"
    names: frozenset[str] = frozenset({"a"})


class Honest(GENERALIZED.reading):  # type: ignore[name-defined,misc]
    pass


class Inventing(Honest):
    def estimates(self, original: Table) -> Estimates:
        found = super().estimates(original)
        return replace(found, people=found.people * 2)


class Flattering(Honest):
    def losses(self, original: Table, own: Any) -> Any:
        return {name: replace(loss, arithmetic=0.0) for name, loss in super().losses(original, own).items()}


class Complaining(Honest):
    def losses(self, original: Table, own: Any) -> Any:
        return {name: replace(loss, arithmetic=0.5) for name, loss in super().losses(original, own).items()}


class Silent(Honest):
    def against(self, original: Table) -> tuple[Finding, ...]:
        return ()


class Wordless(Honest):
    def meaning(self, table: Any, column: Any) -> str:
        return ""


class Cellless(Honest):
    def cell_words(self) -> Mapping[str, str]:
        return {}


class Codeless(Honest):
    def snippets(self, file_format: str) -> list[Any]:
        return []


class OneFile(Honest):
    def snippets(self, file_format: str) -> list[Any]:
        return [{"title": "Read it", "text": "All of it.", "code": f"pd.read_csv('table.{file_format}')"}]


def published(moved: bool = False, changed: bool = False) -> Run:
    run = publish_table(tiny()[0], uc.Mondrian(k=3), randomness=Randomness(1))
    (table,) = run.release.tables
    data = table.data
    if moved:
        data = data.set_column(0, "x", [["[12, 13]"] * table.rows])
    if changed:
        data = data.set_column(2, "s", [["s1"] * table.rows])
    release = replace(run.release, method="planting", tables=(replace(table, data=data),), form=Planted())
    return replace(run, release=release)


FORMS: Mapping[str, tuple[type[Any], Callable[[], Run], str]] = {
    "rows nobody covers": (Honest, lambda: published(moved=True), "rows-covered"),
    "rows nobody covers, unsaid": (Silent, lambda: published(moved=True), "lie in none"),
    "values that are not true": (Silent, lambda: published(changed=True), "says that values are true"),
    "people who are not there": (Inventing, published, "the estimates are of 16 people; there are 8"),
    "no loss where there is some": (Flattering, published, "cells are coarse or were moved, and nothing is lost"),
    "loss where there is none": (Complaining, published, "a table published as it is has lost 0.5"),
    "no words for a column": (Wordless, published, "does not say what the column x stands for"),
    "no words for a cell": (Cellless, published, "does not say how a cell is read"),
    "no code": (Codeless, published, "no code for somebody"),
    "code for one of several files": (OneFile, published, "code for one file table.csv where there are several"),
}
PLANTED: FormPlugin


@pytest.mark.parametrize("fault", FORMS)
def test_of_a_form(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    reading, run, said = FORMS[fault]
    offer(monkeypatch, "forms", "planted", "PLANTED")
    monkeypatch.setitem(globals(), "PLANTED", FormPlugin(form=Planted, reading=reading))
    with pytest.raises(AssertionError, match=said):
        check_form("planted", runs=[run()])


def test_a_form_without_faults_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    offer(monkeypatch, "forms", "planted", "PLANTED")
    monkeypatch.setitem(globals(), "PLANTED", FormPlugin(form=Planted, reading=Honest))
    check_form("planted", runs=[published()])


def test_a_form_that_json_cannot_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    offer(monkeypatch, "forms", "planted", "PLANTED")
    monkeypatch.setitem(globals(), "PLANTED", FormPlugin(form=Listing, reading=Honest))
    run = published()
    strange = replace(run.release, form=Listing(names=frozenset({"b"})))
    with pytest.raises(AssertionError, match="is not ready for JSON"):
        check_form("planted", runs=[replace(run, release=strange)])


def test_a_form_that_is_read_although_nobody_knows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from undercover import forms
    from undercover.guarantees import verify

    run = published()
    offer(monkeypatch, "forms", "planted", "PLANTED")
    monkeypatch.setitem(globals(), "PLANTED", FormPlugin(form=Planted, reading=Honest))
    monkeypatch.setattr(verify, "read", lambda release: forms.read(run.release))
    with pytest.raises(AssertionError, match="verify: tables of a form nobody knows were read all the same"):
        check_form("planted", runs=[run])


@dataclass(frozen=True, kw_only=True)
class Bounded(uc.KAnonymity):
    """No class of more than k rows: two of them may have more."""

    def check(self, classes: Classes) -> Finding:
        actual = int(classes.sizes.max())
        return Finding(self.name, self.parameters(), self.k, actual, actual <= self.k, sense="at most")


class Lossy(uc.KAnonymity):
    def parameters(self) -> Mapping[str, Any]:
        return {"k": self.k + 1}


class Mute(uc.KAnonymity):
    def meaning(self) -> str:
        return " "


class Undecided(uc.KAnonymity):
    def check(self, classes: Classes) -> Finding:
        return Finding(self.name, self.parameters())


class Hasty(uc.KAnonymity):
    def holds_jointly(self, beliefs: JointBeliefs) -> bool | None:
        return all(bool((block.assumed.max(axis=1) < 1).all()) for block in beliefs.blocks())


class Wordy(uc.KAnonymity):
    def holds_jointly(self, beliefs: JointBeliefs) -> Any:
        return "perhaps"


class Turned(uc.KAnonymity):
    def holds_jointly(self, beliefs: JointBeliefs) -> bool | None:
        certain = all(bool((block.least.max(axis=1) == 1).all()) for block in beliefs.blocks())
        return True if certain else None


GUARANTEES = {
    "Hasty": (Hasty(k=2), "fails across releases by what an attack assumes"),
    "Wordy": (Wordy(k=2), "answers 'perhaps' across releases"),
    "Turned": (Turned(k=2), "holds across releases where everybody's value is certain"),
    "Bounded": (Bounded(k=5), "but not when two of them are made one"),
    "Lossy": (Lossy(k=2), "comes back from a spec as another"),
    "Mute": (Mute(k=2), "says nothing of itself"),
    "Undecided": (Undecided(k=2), "neither holds nor fails"),
    "too much to ask": (uc.KAnonymity(k=5), "holds of none of"),
}


@pytest.mark.parametrize("fault", GUARANTEES)
def test_of_a_guarantee(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    guarantee, said = GUARANTEES[fault]
    read = "undercover.testing.guarantees.guarantee_from_mapping"
    monkeypatch.setattr(read, lambda made: type(guarantee)(k=made["k"]))
    with pytest.raises(AssertionError, match=said):
        check_guarantee(guarantee)


class Unasked(uc.Linkage):
    def applies(self, case: Any) -> str | None:
        return "  "


class Nowhere(uc.Linkage):
    def applies(self, case: Any) -> str | None:
        return "It is too late."


class Told:
    """A result with something else."""

    def __init__(self, found: Any, **changes: Any) -> None:
        self.found, self.changes = found, changes

    def to_dict(self) -> dict[str, Any]:
        return {key: value for key, value in {**self.found.to_dict(), **self.changes}.items() if value is not None}

    def view(self) -> Any:
        return replace(self.found.view(), story=self.to_dict()["story"])


def telling(**changes: Any) -> Any:
    class Telling(uc.Linkage):
        def run(self, case: Any, **how: Any) -> Any:
            return Told(super().run(case, **how), **changes)

    return Telling()


ATTACKS = {
    "no reason": (Unasked(), "does not say why"),
    "nowhere": (Nowhere(), "applies to none of the 1 releases"),
    "no guessing beside it": (telling(baseline=None), "shows figures without guessing"),
    "an array": (telling(targets=np.arange(3)), "is not ready for JSON"),
    "no story": (telling(story=""), "does not say which attack it was"),
}


@pytest.mark.parametrize("fault", ATTACKS)
def test_of_an_attack(fault: str) -> None:
    attacker, said = ATTACKS[fault]
    with pytest.raises(AssertionError, match=said):
        check_attack(attacker, cases=[_case()])


def _case() -> Any:
    from undercover.verbs.attack import case_of

    return case_of(publish_table(SIX[0], uc.Mondrian(k=2), randomness=Randomness(1)))


def test_an_attack_that_runs_although_it_does_not_apply(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("undercover.testing.attacks.attack", lambda case, attacker: attacker.run(case))
    with pytest.raises(AssertionError, match="was run although it says: It is too late"):
        check_attack(Nowhere(), cases=[_case()])


class Losing(LocalEngine):
    def map_parts(self, table: Table, work: Any, **how: Any) -> Any:
        rows = np.arange(table.n_rows - 1)
        return [(rows, work(table.take(rows)))]


class Miscounting(LocalEngine):
    def histogram(self, table: Table, column: str) -> Any:
        return np.bincount(table[column].codes)


class Uncounted(LocalEngine):
    def cube(self, table: Table, columns: Any) -> Any:
        return rows_of(table, columns)


class Looking(LocalEngine):
    def map_parts(self, table: Table, work: Any, **how: Any) -> Any:
        ill = table[table.schema.sensitive[0]].codes[0] > 1
        return super().map_parts(table, work, **{**how, "parts": 1 + ill})


class Forgetting(LocalEngine):
    def map_parts(self, table: Table, work: Any, **how: Any) -> Any:
        def without(part: Table) -> Any:
            told = part.part and replace(part.part, counts={})
            return work(replace(part, part=told))

        return super().map_parts(table, without, **how)


class Swallowing(LocalEngine):
    def map_parts(self, table: Table, work: Any, **how: Any) -> Any:
        try:
            return super().map_parts(table, work, **how)
        except ParameterError:
            return []


class InOrder(LocalEngine):
    def map_parts(self, table: Table, work: Any, *, parts: Any = None, **how: Any) -> Any:
        if (parts or self.parts) == 1:
            return super().map_parts(table, work, parts=1)
        division = divide(table, parts or self.parts)
        told = [division[number][1].part for number in range(division.n_parts)]
        every = {name: (np.zeros(table[name].domain.size), 0, 0) for name in table.schema.quasi_identifiers}
        cut = np.array_split(np.arange(table.n_rows), len(told))
        known = [replace(one, bounds=every) for one in told]
        return [(rows, work(replace(table.take(rows), part=one))) for rows, one in zip(cut, known, strict=True)]


class Apart(LocalEngine):
    def map_parts(self, table: Table, work: Any, *, parts: Any = None, least: int = 0, together: Any = None) -> Any:
        return super().map_parts(table, work, parts=parts, least=least)


class Tiny(LocalEngine):
    def map_parts(self, table: Table, work: Any, *, parts: Any = None, least: int = 0, together: Any = None) -> Any:
        return super().map_parts(table, work, parts=parts, together=together)


class Lenient(LocalEngine):
    def encode(self, data: Any, schema: Any, *, one_row: Any = None) -> Any:
        return super().encode(data, replace(schema, missing="drop"), one_row=one_row)


class Impatient(LocalEngine):
    def map_parts(self, table: Table, work: Any, **how: Any) -> Any:
        again = replace(work, work=Unsteady(work.work)) if hasattr(work, "work") else work
        return super().map_parts(table, again, **how)


@dataclass
class Unsteady:
    work: Any
    times: int = 0

    def __call__(self, part: Table) -> Any:
        self.times += 1
        return replace(self.work, randomness=Randomness(self.times))(part)


@dataclass(frozen=True, kw_only=True)
class Deaf(LocalEngine):
    def __post_init__(self) -> None:
        object.__setattr__(self, "threads", 4)


ENGINES = {
    "Losing": (Losing, "do not hold every row once"),
    "Miscounting": (Miscounting, "the histogram of"),
    "Uncounted": (Uncounted, "is not what a group-by counts"),
    "Forgetting": (Forgetting, "does not know of the whole"),
    "InOrder": (InOrder, "the parts depend on the order"),
    "Apart": (Apart, "must stay together"),
    "Tiny": (Tiny, "were asked for at least"),
    "Lenient": (Lenient, "is refused as None"),
    "Impatient": (Impatient, "got other rows"),
    "Looking": (Looking, "depend on threads or on sensitive values"),
    "Swallowing": (Swallowing, "does not reach the caller"),
    "Deaf": (Deaf, "of 1 thread and 3 parts has 4"),
}


@pytest.mark.parametrize("fault", ENGINES)
def test_of_an_engine(fault: str) -> None:
    engine, said = ENGINES[fault]
    with pytest.raises(AssertionError, match=said):
        check_engine(lambda threads, parts: engine(threads=threads, parts=parts))
