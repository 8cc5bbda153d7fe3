"""The corruption-aided attack: the paper's examples in fractions, Monte Carlo of the whole mechanism, whole tables."""

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import undercover as uc
from undercover.attacks.corruption.belief import EXTRANEOUS, generalized_belief, perturbed_belief
from undercover.attacks.corruption.channel import Corruption
from undercover.errors import DataError, ParameterError
from undercover.forms.case import Case
from undercover.guarantees.breach.bounds import growth_bound
from undercover.model.channel import Channel
from undercover.model.table import Table

DISEASES = ("bronchitis", "pneumonia", "breast cancer", "ovarian cancer", "hypertension", "Alzheimer", "dementia")
RESPIRATORY = ("bronchitis", "pneumonia")
NOISE = Channel(Fraction(1, 4), DISEASES)


@pytest.mark.parametrize(
    ("seen", "ownership", "after"),
    [("breast cancer", Fraction(4, 7), Fraction(12, 49)), ("pneumonia", Fraction(2, 7), Fraction(33, 98))],
)
def test_example_1(seen: str, ownership: Fraction, after: Fraction) -> None:
    """Ellie's cell of two: Debbie has pneumonia, Emily is not in the table."""
    belief = perturbed_belief(NOISE, size=2, seen=seen, corrupted=["pneumonia", EXTRANEOUS])
    assert belief.ownership == ownership
    assert belief.confidence(RESPIRATORY) == (Fraction(2, 7), after)
    assert sum(belief.after.values()) == 1


def test_undecided_people_count_by_their_chance_to_be_there() -> None:
    """Nobody is corrupted: of Debbie and Emily one is in the table, so each with probability 1/2."""
    belief = perturbed_belief(NOISE, size=2, seen="pneumonia", undecided=[None, None])
    own = Fraction(1, 4) * Fraction(1, 7) + Fraction(3, 28)
    assert belief.ownership == own / (own + 2 * Fraction(1, 2) * own) == Fraction(1, 2)


def test_what_does_not_satisfy_the_property_never_helps() -> None:
    """Theorem 1, over every value seen, property and corrupted neighbour."""
    for seen in DISEASES:
        for neighbour in DISEASES:
            belief = perturbed_belief(NOISE, size=2, seen=seen, corrupted=[neighbour])
            before, after = belief.confidence([value for value in DISEASES if value != seen])
            assert after <= before
            assert belief.largest_growth == belief.after[seen] - belief.before[seen]


def test_section_iii() -> None:
    """Figure 1: eleven rows, and somebody who knows that it is not HIV."""
    values = uc.datasets.hospital("perturbed-generalization-group").table["disease"].to_pylist()
    domain = [*dict.fromkeys(values), *(f"other {i}" for i in range(94))]
    prior = {value: Fraction(1, 99) for value in domain if value != "HIV"}
    belief = generalized_belief(values, domain=domain, prior=prior)
    assert len(domain) == 100
    assert belief.confidence(["pneumonia"]) == (Fraction(1, 99), Fraction(1, 3))
    respiratory = [value for value in dict.fromkeys(values) if value != "HIV"]
    assert belief.confidence(respiratory) == (Fraction(5, 99), Fraction(1))  # Lemma 1


def test_lemma_2() -> None:
    """Everybody else is corrupted: of a generalised table the victim's value is certain, sampled or not."""
    values = ["flu", "flu", "cold", "gout"]
    for victim in range(4):
        others = [value for i, value in enumerate(values) if i != victim]
        belief = generalized_belief(values, domain=["flu", "cold", "gout", "rash"], corrupted=others)
        assert belief.after[values[victim]] == 1
    # One row of the class is published as it is: where nobody else has its value, it is the victim's.
    sampled = Channel(Fraction(1), ("flu", "cold", "gout", "rash"))
    belief = perturbed_belief(sampled, size=4, seen="gout", corrupted=["flu", "flu", "cold"])
    assert (belief.ownership, belief.after["gout"]) == (1, 1)


def simulated(
    values: list[str], victim: int, trials: int, seed: int, noise: Channel = NOISE
) -> dict[str, Counter[str]]:
    """The whole mechanism: the victim's value from a uniform prior, perturbation of all, one row at random."""
    rng = np.random.default_rng(seed)
    own = rng.integers(noise.size, size=trials)
    people = np.tile([noise.code[value] for value in values], (trials, 1))
    people[:, victim] = own
    kept = rng.random(people.shape) < float(noise.p)
    published = np.where(kept, people, rng.integers(noise.size, size=people.shape))
    seen = published[np.arange(trials), rng.integers(len(values), size=trials)]
    found: dict[str, Counter[str]] = {value: Counter() for value in noise.domain}
    for value, true in zip(seen.tolist(), own.tolist(), strict=True):
        found[noise.domain[value]][noise.domain[true]] += 1
    return found


def largest_z(found: dict[str, Counter[str]], noise: Channel, corrupted: list[str], size: int) -> float:
    """How many standard errors the frequencies are away from what the attacker believes, at most."""
    worst = 0.0
    for seen, true in found.items():
        belief = perturbed_belief(noise, size=size, seen=seen, corrupted=corrupted)
        total = sum(true.values())
        for value in noise.domain:
            chance = float(belief.after[value])
            worst = max(worst, abs(true[value] - total * chance) / (total * chance * (1 - chance)) ** 0.5)
    return worst


def test_beliefs_are_right_about_the_whole_mechanism() -> None:
    values = ["pneumonia", "?", "pneumonia", "dementia"]
    others = [value for value in values if value != "?"]
    found = simulated(["pneumonia", "bronchitis", "pneumonia", "dementia"], 1, 400_000, seed=5)
    assert largest_z(found, NOISE, others, 4) < 4.5
    # Beliefs for another p, or for a forgotten neighbour, are noticed.
    assert largest_z(found, Channel(Fraction(1, 5), DISEASES), others, 4) > 6
    assert largest_z(found, NOISE, others[:2], 3) > 6


def test_bad_beliefs() -> None:
    with pytest.raises(ParameterError, match="cannot have the victim"):
        perturbed_belief(NOISE, size=2, seen="pneumonia", corrupted=["pneumonia", "dementia"])
    with pytest.raises(ParameterError, match="cannot have the victim"):
        perturbed_belief(NOISE, size=4, seen="pneumonia", undecided=[None])
    with pytest.raises(ParameterError, match="`flu` is not known"):
        perturbed_belief(NOISE, size=1, seen="flu")
    with pytest.raises(ParameterError, match="add up to 1"):
        perturbed_belief(NOISE, size=1, seen="pneumonia", prior={"pneumonia": 0.4})
    with pytest.raises(ParameterError, match="more often than it occurs"):
        generalized_belief(["flu"], domain=["flu", "cold"], corrupted=["cold"])
    with pytest.raises(ParameterError, match="excludes every value"):
        generalized_belief(["flu"], domain=["flu", "cold"], prior={"cold": 1})


@pytest.fixture(scope="module")
def run() -> Any:
    people, schema = uc.datasets.census(600, seed=3), uc.datasets.census_schema(["age", "sex"], hierarchies=False)
    return uc.publish(people, schema, uc.PerturbedGeneralization(k=5, p=0.3, skew=0.2), seed=4)


def test_the_sweep_agrees_with_single_victims(run: Any) -> None:
    attack = Corruption(priors=("uniform", "overall"), shares=(0, 1))
    found = attack.run(Case(run.original, run.release))
    counts = Counter(str(value) for value in uc.datasets.census(600, seed=3)["income"].to_pylist())
    overall = {str(value): Fraction(counts[str(value)], 600) for value in range(50)}
    own = [str(code) for code in uc.datasets.census(600, seed=3)["income"].to_pylist()]
    for prior, name in ((None, "uniform"), (overall, "overall")):
        for share, corrupted in ((0, []), (1, None)):
            entry = next(e for e in found.sweep if e["prior"] == name and e["share"] == share)
            plain = next(e for e in found.plain if e["share"] == share)
            growths, confidences, certainties = [], [], []
            for row in range(0, 600, 21):
                seen, true = attack.victim(run.original, run.release, row, corrupted=corrupted, prior=prior)
                growths.append(seen.largest_growth)
                confidences.append(seen.after[own[row]])
                certainties.append(true.after[own[row]])
            assert float(max(growths)) <= entry["growth"]["max"] + 1e-12
            assert float(max(confidences)) <= entry["confidence"]["max"] + 1e-12
            if name == "uniform":
                assert float(max(certainties)) <= plain["confidence"]["max"] + 1e-12
    # With everybody as the victim the extremes are those of the sweep.
    everybody = [attack.victim(run.original, run.release, row)[0] for row in range(600)]
    entry = next(e for e in found.sweep if e["prior"] == "uniform" and e["share"] == 1)
    assert float(max(belief.largest_growth for belief in everybody)) == pytest.approx(entry["growth"]["max"], abs=1e-12)
    mean = sum(belief.after[own[row]] for row, belief in enumerate(everybody)) / 600
    assert float(mean) == pytest.approx(entry["confidence"]["mean"], abs=1e-12)


def test_promises_hold_and_plain_cells_are_undone(run: Any) -> None:
    found = Corruption().run(Case(run.original, run.release))
    assert found.within_bounds
    worst = [entry for entry in found.sweep if entry["prior"] == "worst" and entry["share"] == 1]
    bound = growth_bound(p=0.3, k=int(run.groups.sizes.min()), domain=50, skew=0.2)
    assert worst[0]["growth"]["max"] == pytest.approx(bound, abs=1e-12)  # attained
    assert found.plain[-1]["certain_rows"] == 600
    assert found.plain[0]["certain_rows"] < 600
    assert all(entry["certain_rows"] == 0 for entry in found.sweep)
    figures = found.to_dict()
    assert figures["attack"] == "corruption"
    assert len(figures["sweep"]) == 15


def test_a_release_that_kept_more_than_it_says_is_caught(run: Any) -> None:
    """p = 0.6 in truth, 0.3 in the claim: the bound of the claim is exceeded."""
    from dataclasses import replace

    honest = Channel(Fraction(3, 5), tuple(str(i) for i in range(50)))
    claimed = growth_bound(p=0.3, k=5, domain=50, skew=0.2)
    release = replace(run.release, form=replace(run.release.form, keep="3/5", domain=honest.domain))
    assert Corruption(priors=("worst",), shares=(1,)).run(Case(run.original, release)).worst_growth > claimed


def test_example_1_through_a_release() -> None:
    """The voter list names Emily, who is not in the table; published cells are those of Table I."""
    example = uc.datasets.hospital("perturbed-generalization")
    voters = uc.datasets.hospital("perturbed-generalization-voters").table
    schema = uc.Schema(
        quasi_identifiers=["age", "gender", "zipcode"],
        sensitive="disease",
        columns={"disease": uc.Column(domain=DISEASES)},
    )
    original = Table.from_arrow(example.table, schema)
    run = uc.publish(example.table, schema, uc.PerturbedGeneralization(k=2, p="1/4"), seed=1)
    outside = voters.filter(pa.array([name == "Emily" for name in voters["name"].to_pylist()]))
    external = Table.from_arrow(outside, uc.Schema(quasi_identifiers=["age", "gender", "zipcode"]))
    ellie = example.table["owner"].to_pylist().index("Ellie")
    seen, plain = Corruption().victim(original, run.release, ellie, external=external)
    assert plain.after["breast cancer"] == 1
    assert sum(seen.after.values()) == 1
    told, _ = Corruption().victim(original, run.release, ellie, corrupted=[], external=external, exposed=[])
    assert told.ownership is not None
    assert told.ownership <= Fraction(1, 2)


def test_bad_attacks(run: Any) -> None:
    with pytest.raises(ParameterError, match="2 problems"):
        Corruption(priors=("none",), shares=(2,))  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="no row 600"):
        Corruption().victim(run.original, run.release, 600)
    other = Table.from_arrow(uc.datasets.census(600, seed=9), run.schema)
    with pytest.raises(DataError, match="is this the original table"):
        Corruption().run(Case(other, run.release))
    plain = uc.publish(uc.datasets.census(600, seed=3), run.schema, uc.Mondrian(k=5))
    with pytest.raises(ParameterError, match="did not go through a public channel"):
        Corruption().run(Case(run.original, plain.release))


def test_linkage_knows_that_values_were_drawn(run: Any) -> None:
    """Of a cell of G people the attacker finds the row with 1/G, and believes as if everybody were undecided."""
    found = uc.attack(run)
    sizes = run.groups.sizes[run.groups.labels]
    assert found.after.matches.tolist() == sizes.tolist()
    counts = np.bincount(run.original["income"].codes, minlength=run.original["income"].domain.size)
    labels = run.original["income"].domain.labels
    prior = {label: Fraction(int(count), 600) for label, count in zip(labels, counts, strict=True)}
    prior |= {str(value): Fraction(0) for value in range(50) if str(value) not in prior}
    for row in range(0, 600, 11):
        belief, _ = Corruption().victim(run.original, run.release, row, corrupted=[], prior=prior)
        own = labels[int(run.original["income"].codes[row])]
        assert found.after.attribute["income"][row] == pytest.approx(float(belief.after[own]), abs=1e-12)
    # Knowing less fits more people.
    some = uc.attack(run, uc.Linkage(known=("sex",)))
    assert (some.after.matches > found.after.matches).all()
    assert 0 < some.after.attribute["income"].max() < found.after.attribute["income"].max()
