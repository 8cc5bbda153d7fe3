"""Perturbed generalization: parameters, the eight patients, promises, and the whole mechanism by Monte Carlo."""

from collections import Counter, defaultdict
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from scipy import stats

import undercover as uc
from undercover.engines.local import LocalEngine
from undercover.errors import DataError, ParameterError, SchemaError, UnreachableError
from undercover.guarantees.breach.bounds import growth_bound, rho2_bound
from undercover.model.hierarchy import Hierarchy
from undercover.model.table import Table
from undercover.parameters import make
from undercover.randomness import Randomness

EXAMPLE = uc.datasets.hospital("perturbed-generalization")
DISEASES = ("bronchitis", "pneumonia", "breast cancer", "ovarian cancer", "hypertension", "Alzheimer", "dementia")


def patients(**columns: uc.Column) -> uc.Schema:
    return uc.Schema(
        quasi_identifiers=["age", "gender", "zipcode"],
        sensitive="disease",
        identifiers=["owner"],
        columns={"disease": uc.Column(domain=DISEASES), **columns},
    )


def table_ii_schema() -> uc.Schema:
    """Hierarchies with the cells of the paper's Table II."""
    ages = [(str(age), f"[{low}, {low + 19}]") for low in (21, 41, 61) for age in range(low, low + 20)]
    zips = EXAMPLE.table["zipcode"].to_pylist()
    codes = [
        (str(code), next(f"[{a}***, {a + 19}***]" for a in (11, 31, 51) if a <= code // 1000 < a + 20)) for code in zips
    ]
    return patients(
        age=uc.Column(hierarchy=Hierarchy(ages)),
        gender=uc.Column(hierarchy=Hierarchy([("M",), ("F",)])),
        zipcode=uc.Column(hierarchy=Hierarchy(codes)),
    )


def test_the_eight_patients() -> None:
    """k = 2 and p = 1/4: one row for each of the four cells of Table II, with G = 2."""
    method = uc.PerturbedGeneralization(sample=0.5, p=0.25, recoding="specialize")
    run = uc.publish(EXAMPLE.table, table_ii_schema(), method, seed=1)
    rows = run.release.table().to_pylist()
    assert sorted((row["age"], row["gender"], row["zipcode"], row["G"]) for row in rows) == [
        ("[21, 40]", "M", "[11***, 30***]", 2),
        ("[41, 60]", "F", "[11***, 30***]", 2),
        ("[41, 60]", "F", "[31***, 50***]", 2),
        ("[61, 80]", "M", "[51***, 70***]", 2),
    ]
    assert {row["disease"] for row in rows} <= set(DISEASES)
    assert run.release.parameters["used"] == {"p": 0.25, "domain": list(DISEASES)}
    assert uc.verify(run.release).holds
    assert [entry["name"] for entry in run.release.guarantees] == ["k-anonymity", "disjoint-cells", "delta-growth"]


def test_one_release_per_table_is_recorded_and_said() -> None:
    run = uc.publish(EXAMPLE.table, patients(), uc.PerturbedGeneralization(k=2, p=0.25))
    assert any("One release per table" in warning for warning in run.warnings)
    assert "One release per table" in run.diagnostics["one_release_per_table"]


def test_p_follows_from_the_smallest_cell() -> None:
    people, schema = uc.datasets.census(3000, seed=2), uc.datasets.census_schema(["age", "sex", "education"])
    for recoding in ("mondrian", "specialize"):
        for bound in ("tight", "paper"):
            method = uc.PerturbedGeneralization(k=6, rho=(0.2, 0.45), skew=0.1, recoding=recoding, bound=bound)
            run = uc.publish(people, schema, method, seed=1)
            smallest, p = int(run.groups.sizes.min()), run.release.parameters["used"]["p"]
            given_ = {"k": smallest, "domain": 50, "skew": 0.1, "bound": bound}
            assert rho2_bound(rho1=0.2, p=p, **given_) <= 0.45
            assert rho2_bound(rho1=0.2, p=p + 1e-6, **given_) > 0.45
            claim = {entry["name"]: entry for entry in run.release.guarantees}
            assert claim["rho-breach"]["actual"] == pytest.approx(0.45, abs=1e-9)
            assert claim["delta-growth"]["actual"] == growth_bound(p=p, **given_)
            assert claim["k-anonymity"]["actual"] == smallest
            assert uc.verify(run, original=people).holds


def test_growth_as_the_goal() -> None:
    people, schema = uc.datasets.census(1000, seed=2), uc.datasets.census_schema(["age", "sex"])
    run = uc.publish(people, schema, uc.PerturbedGeneralization(k=6, growth="1/5", skew=0.5), seed=1)
    claim = next(entry for entry in run.release.guarantees if entry["name"] == "delta-growth")
    assert claim["required"] == 0.2
    assert 0.19 < claim["actual"] <= 0.2


def test_nothing_kept_promises_that_nothing_is_learnt() -> None:
    people, schema = uc.datasets.census(1000, seed=2), uc.datasets.census_schema(["age"])
    run = uc.publish(people, schema, uc.PerturbedGeneralization(k=6, p=0), seed=1)
    claim = next(entry for entry in run.release.guarantees if entry["name"] == "delta-growth")
    assert claim["actual"] == 0


@pytest.mark.parametrize("kind", ["hierarchies", "sets and ranges", "boxes", "missing"])
@pytest.mark.parametrize("recoding", ["mondrian", "specialize"])
def test_cells_are_disjoint_for_every_kind_of_column(kind: str, recoding: Any) -> None:
    people = uc.datasets.census(2000, seed=4)
    schema = uc.datasets.census_schema(["age", "education", "race", "birthplace"], hierarchies=kind == "hierarchies")
    if kind == "missing":
        ages = [None if i % 7 == 0 else age for i, age in enumerate(people["age"].to_pylist())]
        races = [None if i % 5 == 0 else race for i, race in enumerate(people["race"].to_pylist())]
        people = people.set_column(0, "age", pa.array(ages)).drop_columns("race").append_column("race", pa.array(races))
        schema = uc.Schema(
            quasi_identifiers=schema.quasi_identifiers, sensitive="income", columns=schema.columns, missing="category"
        )
    if kind == "boxes" and recoding == "specialize":
        with pytest.raises(ParameterError, match="boxes belong to mondrian"):
            uc.PerturbedGeneralization(k=5, p=0.3, recoding=recoding, cells="boxes")
        return
    method = uc.PerturbedGeneralization(k=5, p=0.3, recoding=recoding, cells="boxes" if kind == "boxes" else "regions")
    run = uc.publish(people, schema, method, seed=1)
    verified = uc.verify(run, original=people)
    assert verified.holds, verified
    table = run.release.published()
    assert int(table.data.column("G").to_numpy().sum()) == 2000
    assert table.rows == run.groups.count


def test_rows_are_sorted_by_cells_and_not_by_the_input() -> None:
    people, schema = uc.datasets.census(2000, seed=4), uc.datasets.census_schema(["age", "sex"], hierarchies=False)
    shuffled = people.take(np.random.default_rng(1).permutation(2000))
    tables = [
        uc.publish(data, schema, uc.PerturbedGeneralization(k=5, p=0.3)).release.table() for data in (people, shuffled)
    ]
    assert tables[0].select(["age", "sex", "G"]) == tables[1].select(["age", "sex", "G"])


CELLS = {  # of Table II, and the patients in them
    ("[21, 40]", "[11***, 30***]"): (0, 1),
    ("[41, 60]", "[11***, 30***]"): (2, 3),
    ("[41, 60]", "[31***, 50***]"): (4, 5),
    ("[61, 80]", "[51***, 70***]"): (6, 7),
}


def test_the_published_values_follow_the_mechanism() -> None:
    """The eight patients, published 1,500 times: frequencies of every cell's value against the outcomes.

    That values are not uniform shows at a chi-square of 33; where the mechanism is right, 230 or more is expected.
    """
    method = uc.PerturbedGeneralization(k=2, p="1/4", recoding="specialize")
    table = Table.from_arrow(EXAMPLE.table, table_ii_schema())
    expected: dict[Any, Counter[str]] = defaultdict(Counter)
    for chance, seen in method.outcomes(table):
        for rows, value in seen:
            expected[tuple(sorted(rows))][value] += chance
    assert all(sum(chances.values()) == 1 for chances in expected.values())
    drawn: dict[Any, Counter[str]] = defaultdict(Counter)
    engine, trials = LocalEngine(threads=1), 1500
    for seed in range(trials):
        draft = method.anonymize(table, engine=engine, randomness=Randomness(seed))
        for row in draft.tables[0].data.to_pylist():
            drawn[CELLS[row["age"], row["zipcode"]]][row["disease"]] += 1
    for rows, chances in expected.items():
        observed = [drawn[rows][value] for value in DISEASES]
        assert stats.chisquare(observed, [trials * float(chances[value]) for value in DISEASES]).pvalue > 1e-5
        wrong = [trials * float(1 / Fraction(7)) for _ in DISEASES]
        assert stats.chisquare(observed, wrong).pvalue < 1e-5  # nobody's values are uniform


def largest_growth(method: uc.PerturbedGeneralization) -> Fraction:
    """Everybody but the second person is corrupted (2, 0, 3); a uniform prior over four values."""
    schema = uc.Schema(
        quasi_identifiers=["a", "b"],
        sensitive="s",
        columns={"s": uc.Column(kind="categorical", domain=("0", "1", "2", "3"))},
    )
    weights: dict[Any, list[Fraction]] = defaultdict(lambda: [Fraction(0)] * 4)
    for value in range(4):
        values = [2, value, 0, 3]
        data = pa.table({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "s": [str(v) for v in values]})
        for chance, seen in method.outcomes(Table.from_arrow(data, schema)):
            weights[seen][value] += chance
    return max(weight / sum(found) - Fraction(1, 4) for found in weights.values() for weight in found)


def test_label_driven_cells_break_theorem_3() -> None:
    asked = {"k": 2, "p": "3/5", "recoding": "specialize"}
    assert largest_growth(uc.PerturbedGeneralization(**asked)) == Fraction(9, 28)
    driven = uc.PerturbedGeneralization(**asked, labels="driven", allow_unsafe=True)
    assert largest_growth(driven) == Fraction(1881, 4520)
    limit = growth_bound(p="3/5", k=2, domain=4, skew="1/4")
    assert limit == pytest.approx(9 / 28, abs=1e-12)
    assert largest_growth(driven) <= growth_bound(p="3/5", k=1, domain=4, skew="1/4")


def test_label_driven_cells_claim_what_holds_for_one() -> None:
    people, schema = uc.datasets.census(1000, seed=2), uc.datasets.census_schema(["age", "sex"])
    asked = {"k": 6, "rho": (0.2, 0.45), "skew": 0.1, "recoding": "specialize"}
    with pytest.raises(ParameterError, match="allow_unsafe=True"):
        uc.PerturbedGeneralization(**asked, labels="driven")
    method = uc.PerturbedGeneralization(**asked, labels="driven", allow_unsafe=True)
    assert not method.algorithm_safe
    run = uc.publish(people, schema, method, seed=1)
    claim = {entry["name"]: entry for entry in run.release.guarantees}
    assert claim["rho-breach"]["k"] == claim["delta-growth"]["k"] == 1
    assert claim["rho-breach"]["actual"] == pytest.approx(0.45)
    free = uc.publish(people, schema, uc.PerturbedGeneralization(**asked), seed=1)
    assert run.release.parameters["used"]["p"] < free.release.parameters["used"]["p"]
    assert uc.verify(run.release).holds


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"p": 0.3}, "exactly one of k and sample. Got none"),
        ({"k": 5, "sample": 0.1, "p": 0.3}, "exactly one of k and sample. Got k and sample"),
        ({"k": 5}, "exactly one of p, rho and growth. Got none"),
        ({"k": 5, "p": 0.3, "growth": 0.1}, "Got p and growth"),
        ({"k": 0, "p": 0.3}, "'k' parameter"),
        ({"k": True, "p": 0.3}, "'k' parameter"),
        ({"k": 5, "p": 1.3}, r"'p' parameter of PerturbedGeneralization must be a number in \[0, 1\]"),
        ({"k": 5, "p": "often"}, "'p' parameter"),
        ({"k": 5, "p": 0.3, "skew": 0}, "'skew' parameter"),
        ({"k": 5, "p": 0.3, "skew": 1.1}, "'skew' parameter"),
        ({"k": 5, "rho": (0.5, 0.4)}, "0 < rho1 < rho2 < 1"),
        ({"k": 5, "rho": 0.4}, "0 < rho1 < rho2 < 1"),
        ({"k": 5, "growth": 0}, r"'growth' parameter of PerturbedGeneralization must be a number in \(0, 1\]"),
        ({"sample": 1.5, "p": 0.3}, r"'sample' parameter of PerturbedGeneralization must be a number in \(0, 1\]"),
        ({"k": 5, "p": 0.3, "recoding": "local"}, "There are: `mondrian`, `specialize`"),
        ({"k": 5, "p": 0.3, "bound": "loose"}, "'bound' of PerturbedGeneralization"),
        ({"k": 5, "p": 0.3, "labels": "driven", "allow_unsafe": True}, "specialize"),
        ({"k": 0, "p": 3, "bound": "loose"}, "3 problems"),
    ],
)
def test_bad_parameters(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        uc.PerturbedGeneralization(**parameters)


def test_parameters_from_text() -> None:
    method = make("methods", "perturbed-generalization", {"k": "6", "rho": "0.2,0.45", "skew": "1/10"})
    assert method == uc.PerturbedGeneralization(k=6, rho=(0.2, 0.45), skew=Fraction(1, 10))
    with pytest.raises(ParameterError, match="rho"):
        make("methods", "perturbed-generalization", {"k": "6", "rho": "0.2,often"})


def test_a_public_domain_is_needed() -> None:
    method = uc.PerturbedGeneralization(k=2, p=0.25)
    with pytest.raises(SchemaError, match="declared public domain"):
        uc.publish(EXAMPLE.table, EXAMPLE.schema, method)
    numbers = uc.Schema(quasi_identifiers=["age"], sensitive="income")
    with pytest.raises(SchemaError, match="declared bins"):
        uc.publish(uc.datasets.census(1000), numbers, method)
    with pytest.raises(DataError, match="outside its declared domain"):
        uc.publish(EXAMPLE.table, patients(disease=uc.Column(domain=DISEASES[1:])), method)


def test_tables_that_cannot_be_promised_anything() -> None:
    method = uc.PerturbedGeneralization(k=9, p=0.25)
    with pytest.raises(UnreachableError, match="k=9"):
        uc.publish(EXAMPLE.table, patients(), method)
    with pytest.raises(UnreachableError, match="k=9"):
        uc.publish(EXAMPLE.table, patients(), uc.PerturbedGeneralization(k=9, p=0.25, recoding="specialize"))
    small = uc.PerturbedGeneralization(k=2, p=0.25)
    twice = pa.concat_tables([EXAMPLE.table, EXAMPLE.table])
    with pytest.raises(DataError, match="one row per person"):
        uc.publish(twice, patients(), small)
    assert uc.publish(twice, patients(), uc.PerturbedGeneralization(k=2, p=0.25, several_rows=True)).release
    unchanged = uc.Schema(
        quasi_identifiers=["age"],
        sensitive="disease",
        insensitive=["zipcode"],
        columns={"disease": uc.Column(domain=DISEASES)},
    )
    with pytest.raises(SchemaError, match="finds whose row"):
        uc.publish(EXAMPLE.table, unchanged, small)
    holes = EXAMPLE.table.set_column(4, "disease", pa.array([None, *EXAMPLE.table["disease"].to_pylist()[1:]]))
    missing = uc.Schema(
        quasi_identifiers=["age"],
        sensitive="disease",
        columns={"disease": uc.Column(domain=DISEASES)},
        missing="category",
    )
    with pytest.raises(SchemaError, match="missing values"):
        uc.publish(holes, missing, small)
    two = uc.Schema(quasi_identifiers=["age"], sensitive=["disease", "gender"])
    with pytest.raises(SchemaError, match="exactly one sensitive column"):
        uc.publish(EXAMPLE.table, two, small)
    with pytest.raises(ParameterError, match="1/7"):
        uc.publish(EXAMPLE.table, patients(), uc.PerturbedGeneralization(k=2, p=0.25, skew=0.05))


def test_a_domain_is_written_like_the_values() -> None:
    data = pa.table({"x": [1, 2, 3, 4], "s": [0, 1, 0, 1]})

    def published(domain: list[Any]) -> Any:
        schema = uc.Schema(quasi_identifiers=["x"], sensitive="s", columns={"s": uc.Column(domain=domain)})
        return uc.publish(data, schema, uc.PerturbedGeneralization(k=2, p=0)).release

    assert pa.types.is_integer(published(["0", "1", "2"]).table()["s"].type)
    halves = published(["0", "0.5", "1"])
    assert pa.types.is_floating(halves.table()["s"].type)
    assert uc.verify(halves).holds
    for strange in (["0", "1", "2.0"], ["0", "1", "many"]):
        with pytest.raises(SchemaError, match="written like them"):
            published(strange)


def test_numbers_and_dates_keep_their_type() -> None:
    days = [f"2020-01-{day:02d}" for day in range(1, 8)]
    table = EXAMPLE.table.append_column("day", pa.array(days[:7] + days[:1]).cast(pa.date32()))
    schema = uc.Schema(quasi_identifiers=["age"], sensitive="day", columns={"day": uc.Column(domain=days)})
    published = uc.publish(table, schema, uc.PerturbedGeneralization(k=2, p=0.5)).release.table()
    assert pa.types.is_date(published["day"].type)


@hypothesis_settings(max_examples=30)
@given(st.integers(0, 2**32), st.integers(2, 40), st.integers(1, 5), st.floats(0, 1))
def test_what_is_published_is_verified(seed: int, n: int, k: int, p: float) -> None:
    rng = np.random.default_rng(seed)
    data = pa.table(
        {"x": rng.integers(0, 6, n), "c": [f"c{v}" for v in rng.integers(0, 4, n)], "s": rng.integers(0, 5, n)}
    )
    schema = uc.Schema(
        quasi_identifiers=["x", "c"], sensitive="s", columns={"s": uc.Column(domain=[str(v) for v in range(5)])}
    )
    for recoding in ("mondrian", "specialize"):
        method = uc.PerturbedGeneralization(k=k, p=p, recoding=recoding)
        if k > n:
            with pytest.raises(UnreachableError):
                uc.publish(data, schema, method, seed=seed)
            continue
        run = uc.publish(data, schema, method, seed=seed)
        assert uc.verify(run, original=data).holds
        assert run.release.form.channel.size == 5
