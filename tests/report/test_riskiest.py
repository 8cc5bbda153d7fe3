from dataclasses import replace

import pyarrow as pa

import undercover as uc
from undercover.pages.render import report_html
from undercover.pages.sections import riskiest
from undercover.verbs.report import summarize


def test_rows_come_with_what_the_attacker_knows_and_nothing_else():
    people = pa.table(
        {
            "name": ["Annabella", "Beatrix", "Calpurnia", "Danuta", "Evelina"],
            "age": [20, None, 21, 60, 61],
            "ill": ["flu", "cold", "flu", "gout", "gout"],
        }
    )
    schema = uc.Schema(quasi_identifiers=["age"], sensitive="ill", identifiers=["name"], missing="drop")
    run = uc.publish(people, schema, uc.Mondrian(k=2), seed=1)
    (found,) = riskiest(run, [uc.attack(run).to_dict()])
    # Row 1 has no age and was left out; the others keep the numbers they have in the input.
    assert {row["row"]: row["known"] for row in found["rows"]} == {
        0: {"age": "20"},
        2: {"age": "21"},
        3: {"age": "60"},
        4: {"age": "61"},
    }
    page = report_html(summarize(run))
    assert "The riskiest rows that remain" in page
    assert not any(name in page for name in people.column("name").to_pylist())


def test_an_attack_without_rows_and_a_run_without_its_original():
    schema = uc.Schema(quasi_identifiers=["age"], sensitive="income")
    run = uc.publish(uc.datasets.census(200), schema, uc.Mondrian(k=5), seed=1)
    assert riskiest(run, [{"attack": "corruption"}]) == []
    assert riskiest(run, []) == []
    known = uc.attack(run).to_dict()
    assert {str(row["known"]) for row in riskiest(replace(run, original=None), [known])[0]["rows"]} == {"{}"}


def test_rows_that_are_tied_with_the_last_one_listed_are_counted():
    ill = ["flu", "cold", "gout"] * 10 + ["flu", "cold", "gout", "gout", "pox"] * 5
    people = pa.table({"age": [20] * 30 + [60] * 25, "ill": ill})
    schema = uc.Schema(quasi_identifiers=["age"], sensitive="ill")
    found = uc.attack(uc.publish(people, schema, uc.Mondrian(k=20), seed=1, policy="none"))
    # Ten people of 60 have gout, 2 in 5; then 30 of 20 with 1 in 3 each, of whom ten are listed.
    assert [row["row"] >= 30 for row in found.worst_rows()] == [True] * 10 + [False] * 10
    assert (found.worst_tied(), found.worst_tied(limit=10), found.worst_tied(limit=3)) == (20, 0, 7)
    assert found.worst_tied(limit=100) == 0
