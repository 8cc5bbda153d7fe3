"""Planted faults: bugs after which a release leaked and `publish` said Ready.

Each test plants one fault into the steps that make a release and expects `publish` itself to refuse. The first seven
went unnoticed until publish tested itself: with shuffling disabled, mutual cover published all rows unchanged and in
the order of the input, and everything that is verified from published tables held.
"""

import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import undercover as uc
from undercover.errors import InternalError, SelfTestError
from undercover.model.run import Draft
from undercover.steps import recoding, shuffling

ROWS = 600
DATA = uc.datasets.census(ROWS)
SCHEMA = uc.Schema(
    quasi_identifiers=["age", "sex", "education"],
    sensitive="income",
    columns={"income": uc.Column(domain=tuple(str(value) for value in range(50)))},
)

COVERING: dict[str, Any] = {
    "mondrian": uc.Mondrian(k=5),
    "mondrian regions": uc.Mondrian(k=5, recoding="regions"),
    "wrap": uc.Streamliner(l=4),
    "guided": uc.Streamliner(l=4, algorithm="guided"),
    "classes": uc.Streamliner(l=4, algorithm="classes"),
    "rda": uc.Streamliner(l=4, algorithm="rda"),
    "incognito": uc.Incognito(k=5, suppression=0.05),
}
BUCKETS: dict[str, Any] = {
    "anatomy": uc.Anatomy(l=4),
    "cross-bucket": uc.CrossBucket(k=5, l=4),
    "cross-bucket robust": uc.CrossBucket(k=5, l=4, robust=True),
    "cross-bucket paper": uc.CrossBucket(k=5, l=4, variant="paper"),
}
PERMUTED: dict[str, Any] = {
    "layers": uc.MutualCover(delta="1/5", l=4),
    "layers robust": uc.MutualCover(delta="1/5", l=4, robust=True),
    "blocks": uc.MutualCover(delta="1/5", variant="blocks"),
    "groups": uc.MutualCover(l=4, variant="groups"),
}
PAPER: dict[str, Any] = {"mutual cover paper": uc.MutualCover(delta="1/4", l=4, variant="paper")}
PERTURBED: dict[str, Any] = {"perturbed": uc.PerturbedGeneralization(k=6, p=0.26)}
ALL = COVERING | BUCKETS | PERMUTED | PAPER | PERTURBED


def publish(method: Any, **options: Any) -> uc.Run:
    """What everybody calls."""
    return uc.publish(DATA, SCHEMA, method, policy="none", seed=3, **options)


def patch_everywhere(monkeypatch: pytest.MonkeyPatch, old: Any, new: Any) -> None:
    """Replace a function in every module that imported it."""
    for module in [each for name, each in sys.modules.items() if name.startswith("undercover")]:
        for name, held in list(vars(module).items()):
            if held is old:
                monkeypatch.setattr(module, name, new)


def without_shuffling(monkeypatch: pytest.MonkeyPatch, is_meant: Callable[[str], bool]) -> None:
    """Leave in their order what is shuffled for a purpose that is meant."""
    shuffle = shuffling.shuffle_within

    def shuffle_within(items: Any, offsets: Any, randomness: Any, purpose: str, threads: int = 1) -> None:
        if not is_meant(purpose):
            shuffle(items, offsets, randomness, purpose, threads)

    patch_everywhere(monkeypatch, shuffle, shuffle_within)


def changing_drafts(monkeypatch: pytest.MonkeyPatch, method: Any, change: Callable[[Draft], Draft]) -> None:
    """Change what a method hands back."""
    made = type(method).anonymize

    def anonymize(self: Any, *arguments: Any, **options: Any) -> Draft:
        return change(made(self, *arguments, **options))

    monkeypatch.setattr(type(method), "anonymize", anonymize)


def with_table(draft: Draft, data: pa.Table, place: int = 0) -> Draft:
    """The same draft with other rows."""
    tables = list(draft.tables)
    tables[place] = replace(tables[place], data=data)
    return replace(draft, tables=tuple(tables))


def each(*kinds: dict[str, Any]) -> list[Any]:
    """The methods of some kinds, one test each."""
    return [pytest.param(method, id=name) for kind in kinds for name, method in kind.items()]


@pytest.mark.parametrize("method", each(ALL))
def test_honest_releases_pass(method: Any) -> None:
    found = publish(method).self_test
    assert found["untested"] == []
    assert all(each["holds"] for each in found["compared"])
    assert all(check["p_value"] > 1e-6 for check in found["checks"])


@pytest.mark.parametrize("method", each(COVERING, BUCKETS, PERMUTED, PAPER))
def test_1_no_shuffling(method: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    without_shuffling(monkeypatch, lambda purpose: True)
    with pytest.raises(SelfTestError, match="Not drawn as declared"):
        publish(method)


@pytest.mark.parametrize("method", [PERMUTED["layers"], PERMUTED["layers robust"]], ids=repr)
def test_2_sensitive_values_not_permuted(method: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    without_shuffling(monkeypatch, lambda purpose: purpose == "sensitive values")
    with pytest.raises(SelfTestError, match=r"sensitive values: stayed with their owner: 1 where 0\.5"):
        publish(method)


@pytest.mark.parametrize("method", each(PERMUTED))
def test_3_quasi_identifiers_not_permuted(method: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    without_shuffling(monkeypatch, lambda purpose: purpose.startswith("values of "))
    with pytest.raises(SelfTestError, match=r"`age`: stayed with their owner: 1 where 0\.5"):
        publish(method)


@pytest.mark.parametrize("method", each(COVERING, BUCKETS, PERMUTED, PAPER))
def test_4_rows_in_the_order_of_the_input(method: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    without_shuffling(monkeypatch, lambda purpose: purpose == "order of rows")
    with pytest.raises(SelfTestError, match="order of rows"):
        publish(method)


@pytest.mark.parametrize("method", each(PERTURBED))
def test_5_values_kept_more_often_than_claimed(method: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from undercover.methods.perturbed_generalization import cells

    perturb = cells.perturbed

    def perturbed(codes: Any, p: Fraction, size: int, randomness: Any) -> Any:
        return perturb(codes, Fraction(99, 100), size, randomness)

    patch_everywhere(monkeypatch, perturb, perturbed)
    with pytest.raises(SelfTestError, match="values that are those of their cells"):
        uc.publish(uc.datasets.census(6_000), SCHEMA, method, policy="none", seed=3)


BOXES = {name: ALL[name] for name in ALL if name not in ("incognito", "anatomy") and name in COVERING | BUCKETS}


@pytest.mark.parametrize(
    "method", [*each(BOXES), pytest.param(uc.PerturbedGeneralization(k=6, p=0.26, cells="boxes"), id="perturbed boxes")]
)
def test_6_intervals_that_start_one_value_late(method: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    write = recoding._span_cells

    def late(column: Any, kind: Any, low: Any, high: Any, **options: Any) -> Any:
        return write(column, kind, np.where(low < high, low + 1, low), high, **options)

    monkeypatch.setattr(recoding, "_span_cells", late)
    with pytest.raises(SelfTestError, match="own-rows-covered fails"):
        publish(method)


@pytest.mark.parametrize("method", [COVERING["incognito"], BUCKETS["anatomy"]], ids=repr)
def test_6_cells_of_somebody_else(method: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """For methods that write no intervals of their own: every cell of a column is there, sixty rows too late."""

    def change(draft: Draft) -> Draft:
        data = draft.tables[0].data
        name = max(SCHEMA.quasi_identifiers, key=lambda each: len(data.column(each).unique()))
        moved = data.column(name).take(pa.array(np.roll(np.arange(data.num_rows), 60)))
        return with_table(draft, data.set_column(data.column_names.index(name), name, moved))

    changing_drafts(monkeypatch, method, change)
    with pytest.raises(InternalError):
        publish(method)


SLOTS = {name: ALL[name] for name in ("wrap", "rda", "guided", "anatomy", "cross-bucket robust", "layers robust")}


@pytest.mark.parametrize("method", each(SLOTS))
def test_7_dealing_without_its_secret_order(method: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    without_shuffling(monkeypatch, lambda purpose: purpose == "slots of one value")
    with pytest.raises(SelfTestError, match="slots of one value"):
        publish(method)


CLASS_DEALING = [("places of rows", "places of rows"), ("order among equal rows", "order of equal rows")]
CLASSES = {name: ALL[name] for name in ("classes", "cross-bucket", "layers", "groups")}


@pytest.mark.parametrize("method", each(CLASSES))
@pytest.mark.parametrize(("purpose", "check"), CLASS_DEALING)
def test_7_class_dealing_without_its_secret_orders(
    method: Any, purpose: str, check: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_shuffling(monkeypatch, lambda each: each == purpose)
    with pytest.raises(SelfTestError, match=check):
        uc.publish(uc.datasets.census(3_000), SCHEMA, method, policy="none", seed=3)


@pytest.mark.parametrize("method", each(BUCKETS))
def test_8_a_count_off_by_one(method: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def change(draft: Draft) -> Draft:
        data = draft.tables[1].data
        counts = data.column("count").to_numpy().copy()
        counts[0] += 1
        return with_table(draft, data.set_column(2, "count", pa.array(counts)), 1)

    changing_drafts(monkeypatch, method, change)
    with pytest.raises(InternalError):
        publish(method)


@pytest.mark.parametrize("method", each(ALL))
def test_9_a_row_that_is_lost(method: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    changing_drafts(monkeypatch, method, lambda draft: with_table(draft, draft.tables[0].data.slice(1)))
    with pytest.raises((InternalError, uc.errors.InputError)):
        publish(method)


@pytest.mark.parametrize("method", each(COVERING, PERMUTED, PAPER, BUCKETS))
def test_10_a_value_that_nobody_has_there(method: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def change(draft: Draft) -> Draft:
        place = len(draft.tables) - 1
        data = draft.tables[place].data
        values = data.column("income").to_pylist()
        values[0] = next(value for value in range(50) if value != values[0])
        return with_table(draft, data.set_column(data.column_names.index("income"), "income", pa.array(values)), place)

    changing_drafts(monkeypatch, method, change)
    with pytest.raises(InternalError):
        publish(method)


@pytest.mark.parametrize("method", [uc.Mondrian(k=5), uc.CrossBucket(k=5, l=4)], ids=repr)
def test_11_groups_that_are_too_small(method: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from undercover.steps.cutting import partition as cutting

    cut = cutting.partition
    patch_everywhere(monkeypatch, cut, lambda table, *, k, **options: cut(table, k=2, **options))
    with pytest.raises(InternalError):
        publish(method)


@pytest.mark.parametrize("method", each(BUCKETS))
def test_12_buckets_numbered_as_they_were_dealt(method: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    without_shuffling(monkeypatch, lambda purpose: purpose == "numbers of buckets")
    with pytest.raises(SelfTestError, match="numbers of buckets: as dealt"):
        publish(method)


@pytest.mark.parametrize("method", [BUCKETS["anatomy"], BUCKETS["cross-bucket robust"]], ids=repr)
def test_12_buckets_numbered_in_the_order_of_the_input(method: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from undercover.model.groups import Groups
    from undercover.steps.dealing import groups as dealing

    number = dealing.numbering

    def change(draft: Draft) -> Draft:
        first = np.sort(np.unique(draft.buckets, return_index=True)[1])
        place = np.empty(len(first), dtype=np.int32)
        place[draft.buckets[first]] = np.arange(len(first))
        tables = []
        for table in draft.tables:
            at = table.data.column_names.index("bucket")
            tables.append(
                replace(table, data=table.data.set_column(at, "bucket", pa.array(place[table.data.column("bucket")])))
            )
        buckets = place[draft.buckets]
        noted = number(Groups(buckets, len(place)))
        return replace(draft, tables=tuple(tables), buckets=buckets, shuffles=noted)

    changing_drafts(monkeypatch, method, change)
    with pytest.raises(SelfTestError, match="numbers of buckets: as in the input"):
        publish(method)


def test_suppressed_rows_that_are_counted_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    method = ALL["incognito"]
    changing_drafts(monkeypatch, method, lambda draft: replace(draft, suppressed=draft.suppressed + 1))
    with pytest.raises(InternalError):
        publish(method)


@pytest.mark.parametrize("method", each(PERMUTED))
def test_columns_that_are_permuted_together(method: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """One permutation for all columns keeps the rows of quasi-identifiers whole; found from some thousand rows on."""
    shuffle = shuffling.shuffle_within

    def shuffle_within(items: Any, offsets: Any, randomness: Any, purpose: str, threads: int = 1) -> None:
        same = "values" if purpose.startswith("values of ") else purpose
        shuffle(items, offsets, randomness, same, threads)

    patch_everywhere(monkeypatch, shuffle, shuffle_within)
    schema = uc.Schema(quasi_identifiers=["age", "hours"], sensitive="income")
    with pytest.raises(SelfTestError, match=r"moved together: 1 where 0\.5"):
        uc.publish(uc.datasets.census(6_000), schema, method, policy="none", seed=3)


def test_the_first_row_of_every_cell_is_published(monkeypatch: pytest.MonkeyPatch) -> None:
    from undercover.methods.perturbed_generalization import cells

    monkeypatch.setattr(
        "undercover.methods.perturbed_generalization.method.draw_rows",
        lambda groups, randomness: groups.order[groups.offsets[:-1]].astype(np.int64),
    )
    assert cells.draw_rows is not None
    with pytest.raises(SelfTestError, match="row of a cell"):
        publish(PERTURBED["perturbed"])


def test_cells_drawn_true_where_tables_say_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    from undercover.methods.mutual_cover import paper

    sample = paper.sample

    def unchanged(table: Any, groups: Any, tables: Any, randomness: Any, **options: Any) -> Any:
        from undercover.methods.mutual_cover.draw import _people

        people, drawn = _people(table, groups, tables), sample(table, groups, tables, randomness, **options)
        return replace(drawn, released=people.as_output[people.codes + people.output_starts[:-1]])

    monkeypatch.setattr(paper, "sample", unchanged)
    with pytest.raises(SelfTestError, match="cells that show the true value"):
        publish(PAPER["mutual cover paper"])


@pytest.mark.parametrize("method", [ALL[name] for name in ("layers", "wrap", "anatomy", "mondrian")], ids=repr)
def test_a_fault_is_found_in_parts_as_well(method: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = uc.LocalEngine(threads=1, parts=3)
    assert publish(method, engine=engine).self_test["untested"] == []
    without_shuffling(monkeypatch, lambda purpose: True)
    with pytest.raises(SelfTestError):
        publish(method, engine=engine)


def test_an_order_that_is_kept_on_purpose_is_stated_and_not_refused() -> None:
    run = publish(uc.MutualCover(delta="1/4", l=4, variant="paper", keep_order=True))
    (check,) = [check for check in run.self_test["checks"] if check["name"] == "order of rows"]
    assert "declares that rows keep the order of the input" in check["note"]
    assert run.release.form.order == "input"
