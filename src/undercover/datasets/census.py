"""A census of people who do not exist: the attributes and domain sizes of the five papers' tables.

Column after column is drawn given the ones before it, by look-up in the tables of
:mod:`undercover.datasets.census_model` and :mod:`undercover.datasets.census_income`::

    age → sex → birthplace → race → education → marital_status → relationship
                                 education → occupation → work_class → hours → income → salary

Rows are independent, and each is drawn from words keyed by the seed, the column and the row's number, so a shorter
census with the same seed is the beginning of a longer one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from undercover.datasets import census_income as income_model
from undercover.datasets import census_model as model
from undercover.datasets.census_income import salary_amounts
from undercover.datasets.census_model import draw
from undercover.datasets.population import (
    AGES,
    BIRTHPLACES,
    EDUCATION_BROAD,
    EDUCATIONS,
    GEOGRAPHY,
    HOURS,
    INCOMES,
    MARITAL_STATUSES,
    OCCUPATION_GROUPS,
    OCCUPATIONS,
    RACES,
    RELATIONSHIPS,
    SEXES,
    WORK_CLASSES,
)
from undercover.errors import ParameterError
from undercover.hierarchies.build import from_intervals
from undercover.model.hierarchy import Hierarchy
from undercover.model.schema import Column, Schema
from undercover.randomness import Randomness

_MARRIED = 1
_OWN_COMPANY, _OWN_ACCOUNT = 5, 6
QUASI_IDENTIFIERS = ("age", "sex", "education", "marital_status", "race", "work_class", "birthplace", "hours")


def census(n: int = 30_000, seed: int = 0) -> pa.Table:
    """A table of ``n`` people.

    Parameters
    ----------
    n
        Rows.
    seed
        The same seed gives the same people.

    Returns
    -------
    pyarrow.Table
        ``age`` (17 to 95), ``sex`` (2 values), ``relationship`` (13), ``education`` (17), ``marital_status`` (6),
        ``race`` (9), ``work_class`` (8), ``birthplace`` (57), ``hours`` (1 to 99 a week), ``occupation`` (500 codes;
        ``code // 10`` is the group, one of 50), ``income`` (classes 0 to 49 of 2,000 each) and ``salary``
        (850 amounts). Text columns are dictionary-encoded. Nothing is missing.

    Examples
    --------
    >>> people = census(1000, seed=1)
    >>> people.num_rows, people.column_names[:4]
    (1000, ['age', 'sex', 'relationship', 'education'])
    >>> census(10, seed=1) == people.slice(0, 10).unify_dictionaries()
    True
    """
    for name, value, least in (("n", n, 1), ("seed", seed, 0)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise ParameterError(f"The {name!r} of a census must be an int in [{least}, inf). Got {value!r} instead.")
    codes = _draw_people(n, Randomness(seed))
    return pa.table(
        {
            "age": pa.array((codes["age"] + np.uint8(AGES[0])).astype(np.int16)),
            "sex": _labelled(codes["sex"], SEXES),
            "relationship": _labelled(codes["relationship"], [label for label, _ in RELATIONSHIPS]),
            "education": _labelled(codes["education"], [label for label, _ in EDUCATIONS]),
            "marital_status": _labelled(codes["marital_status"], [label for label, _ in MARITAL_STATUSES]),
            "race": _labelled(codes["race"], [label for label, _ in RACES]),
            "work_class": _labelled(codes["work_class"], [label for label, _ in WORK_CLASSES]),
            "birthplace": _labelled(codes["birthplace"], BIRTHPLACES),
            "hours": pa.array((codes["hours"] + np.uint8(HOURS[0])).astype(np.int16)),
            "occupation": pa.array((codes["occupation"] + OCCUPATIONS[0]).astype(np.int16)),
            "income": pa.array(codes["income"].astype(np.int16)),
            "salary": pa.array(codes["salary"]),
        }
    )


def _draw_people(n: int, randomness: Randomness) -> dict[str, NDArray[Any]]:
    def words(column: str) -> NDArray[np.uint32]:
        return randomness.words(f"census/{column}", n)

    age = draw(model.age_table(), words("age"))
    decade, cohort, stage = (band.astype(np.uint16).take(age) for band in (model.DECADE, model.COHORT, model.STAGE))
    sex = draw(model.sex_table(), words("sex"), age)
    birthplace = draw(model.birthplace_table(), words("birthplace"), decade)
    race = draw(model.race_table(), words("race"), birthplace)

    upbringing = model.UPBRINGING.astype(np.uint16).take(birthplace)
    ancestry = model.ANCESTRY.astype(np.uint16).take(race)
    background = ((cohort * 4 + upbringing) * 3 + ancestry) * 2 + sex
    education = draw(model.education_table(), words("education"), background)
    schooling = model.SCHOOLING.astype(np.uint16).take(education)

    has_degree = (schooling >= 3).astype(np.uint16)
    marital = draw(model.marital_table(), words("marital_status"), (age.astype(np.uint16) * 2 + sex) * 2 + has_degree)
    relationship = draw(
        model.relationship_table(),
        words("relationship"),
        (marital.astype(np.uint16) * model.N_DECADES + decade) * 2 + sex,
    )

    stand = (schooling * 2 + sex) * model.N_STAGES + stage
    group = draw(model.occupation_group_table(), words("occupation group"), stand).astype(np.uint16)
    code = draw(model.occupation_table(), words("occupation"), group * 2 + sex)
    broad = group // model.GROUPS_PER_BROAD
    work_class = draw(model.work_class_table(), words("work_class"), group * model.N_STAGES + stage)
    own = ((work_class == _OWN_COMPANY) | (work_class == _OWN_ACCOUNT)).astype(np.uint16)
    week = ((broad * 2 + sex) * model.N_STAGES + stage) * 2 + own
    hours = draw(model.hours_table(), words("hours"), week)

    married = (marital == _MARRIED).astype(np.uint16)
    log_money = (
        income_model.career_curve().ravel().take(age.astype(np.uint16) * len(EDUCATIONS) + education)
        + income_model.occupation_premium().ravel().take(group * model.N_SCHOOLINGS + schooling)
        + income_model.hours_effect().ravel().take(broad * len(HOURS) + hours)
        + income_model.household_gap().ravel().take((sex * np.uint16(2) + married) * model.N_STAGES + stage)
        + income_model.work_class_effect().take(work_class)
        + draw(income_model.noise(), words("income"), broad)
    )
    income = income_model.income_class(log_money)
    amount = draw(income_model.salary_table(), words("salary"), income)
    return {
        "age": age,
        "sex": sex,
        "relationship": relationship,
        "education": education,
        "marital_status": marital,
        "race": race,
        "work_class": work_class,
        "birthplace": birthplace,
        "hours": hours,
        "occupation": group * np.uint16(10) + code,
        "income": income,
        "salary": income_model.salary_amounts().take(income.astype(np.int32) * income_model.AMOUNTS_PER_CLASS + amount),
    }


def _labelled(codes: NDArray[Any], labels: Any) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int8)), pa.array(list(labels), pa.string()))


def census_hierarchies() -> dict[str, Hierarchy]:
    """A hierarchy for every column of the census.

    Examples
    --------
    >>> trees = census_hierarchies()
    >>> [trees["age"].generalize("34", level) for level in range(trees["age"].n_levels)]
    ['34', '[30, 34]', '[30, 39]', '[20, 39]', '[0, 39]', '*']
    >>> trees["birthplace"].rows[trees["birthplace"].leaf_index["Texas"]]
    ('Texas', 'West South Central', 'South', '*')
    >>> trees["occupation"].rows[0]
    ('1000', 'Executives', 'Management', '*')
    """
    return dict(_hierarchies())


@cache
def _hierarchies() -> dict[str, Hierarchy]:
    return {
        "age": from_intervals(AGES, [5, 10, 20, 40]),
        "sex": Hierarchy([(sex,) for sex in SEXES]),
        "relationship": Hierarchy(RELATIONSHIPS),
        "education": Hierarchy([(label, level, EDUCATION_BROAD[level]) for label, level in EDUCATIONS]),
        "marital_status": Hierarchy(MARITAL_STATUSES),
        "race": Hierarchy(RACES),
        "work_class": Hierarchy(WORK_CLASSES),
        "birthplace": Hierarchy(
            [(place, division, region) for division, region, towns in GEOGRAPHY for place in towns]
        ),
        "hours": from_intervals(HOURS, [5, 10, 20]),
        "occupation": Hierarchy(_occupations()),
        "income": from_intervals(INCOMES, [5, 25]),
        "salary": from_intervals(salary_amounts().tolist(), [2_000, 10_000, 50_000]),
    }


def census_schema(
    quasi_identifiers: Iterable[str] = QUASI_IDENTIFIERS,
    sensitive: Iterable[str] | str = "income",
    *,
    hierarchies: bool = True,
) -> Schema:
    """A schema for the census.

    Parameters
    ----------
    quasi_identifiers
        By default age, sex, education, marital status, race, work class, birthplace and hours.
    sensitive
        By default the income class.
    hierarchies
        Whether the quasi-identifiers carry their hierarchies. Without them numbers are published as intervals and
        categories as sets; education is then ordinal, and the occupation codes count as categories.

    Sensitive columns declare their public domain, all values they can have.

    Examples
    --------
    >>> census_schema(["age", "sex"], "salary").quasi_identifiers
    ('age', 'sex')
    >>> census_schema(hierarchies=False).column("age").hierarchy is None
    True
    """
    names = tuple(quasi_identifiers)
    sensitive = (sensitive,) if isinstance(sensitive, str) else tuple(sensitive)
    trees = census_hierarchies() if hierarchies else {}
    columns = {name: Column(hierarchy=trees[name]) for name in names if name in trees}
    if "education" in names and not hierarchies:
        columns["education"] = Column(kind="ordinal", domain=tuple(label for label, _ in EDUCATIONS))
    if "occupation" in (*names, *sensitive):
        columns["occupation"] = Column(
            kind="categorical", hierarchy=trees.get("occupation") if "occupation" in names else None
        )
    for name, values in _public_domains().items():
        if name in sensitive:
            columns[name] = replace(columns.get(name, Column()), domain=values)
    return Schema(quasi_identifiers=names, sensitive=sensitive, columns=columns)


def _public_domains() -> dict[str, tuple[str, ...]]:
    return {
        "income": tuple(str(income) for income in INCOMES),
        "occupation": tuple(str(code) for code in OCCUPATIONS),
        "salary": tuple(str(amount) for amount in sorted(set(salary_amounts().tolist()))),
    }


def _occupations() -> list[tuple[str, str, str]]:
    groups = [(group, broad) for broad, members in OCCUPATION_GROUPS for group in members]
    return [(str(code), *groups[(code - OCCUPATIONS[0]) // 10]) for code in OCCUPATIONS]
