"""What the benches of experiments measure on, by hand."""

import re

import numpy as np
import pyarrow as pa
import pytest

from undercover.errors import ParameterError
from undercover.methods.cross_bucket.method import CrossBucket
from undercover.model.schema import Schema
from undercover.model.table import Table
from undercover.studies.experiments.bench import grouped_census, part
from undercover.studies.experiments.papers.cross_bucket import method_of
from undercover.studies.experiments.papers.noncentralized import _scaled
from undercover.studies.experiments.papers.streamliner.bench import one_at_a_time, scatter
from undercover.studies.experiments.request import Request, one_sensitive
from undercover.studies.recommend.purpose import neighbours


def test_a_part_of_a_table_several_times_over() -> None:
    people = pa.table({"age": [1, 2], "sex": [1, 1], "ill": [5, 6]})
    table = Table.from_arrow(people, Schema(quasi_identifiers=["age", "sex"], sensitive="ill"))
    twice = part(table, ("age",), copies=2)
    assert (twice["age"].codes.tolist(), list(twice.columns)) == ([0, 1, 0, 1], ["age", "ill"])


def test_occupations_by_their_groups() -> None:
    assert grouped_census(5, seed=1).column_names[-1] == "occupation_group"


def test_columns_alone_in_pairs_and_together() -> None:
    assert neighbours(["age", "sex"]) == (("age",), ("sex",), ("age", "sex"))
    assert len(neighbours(["a", "b", "c", "d"])) == 12


def test_methods_by_their_names_in_the_figures() -> None:
    assert method_of("cross-bucket", 3, 10) == CrossBucket(k=3, l=10, variant="paper")
    assert method_of("mondrian", 3, 10).cut == "median"


def test_l_keeps_its_share_of_the_values() -> None:
    assert (_scaled(30, 50), _scaled(30, 14), _scaled(10, 4)) == (30, 8, 1)


def test_columns_are_told_apart_one_after_the_other() -> None:
    people = pa.table({"age": [1, 2, 3], "sex": ["f", "m", "m"], "town": ["a", "b", "c"], "ill": [5, 6, 7]})
    table = Table.from_arrow(people, Schema(quasi_identifiers=["age", "sex", "town"], sensitive="ill"))
    assert one_at_a_time(table, ["sex"]) == {"sex": 0, "age": 1, "town": 4}


def test_numbers_are_scattered_to_their_places() -> None:
    assert scatter(np.array([2, 0, 1])).tolist() == [1, 2, 0]


def test_an_unknown_choice_names_the_nearest() -> None:
    assert Request(options={"strata": "sex"}).choices(["strata", "range"]) == {"strata": "sex"}
    with pytest.raises(
        ParameterError, match=re.escape("Option `stratum` is not known. Did you mean `strata`? There are: ")
    ):
        Request(options={"stratum": "sex"}).choices(["strata", "range"])


def test_the_only_sensitive_column() -> None:
    assert one_sensitive(Schema(quasi_identifiers=["age"], sensitive="disease")) == "disease"
