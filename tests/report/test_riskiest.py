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
