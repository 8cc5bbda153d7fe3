"""Hierarchies and a ready schema for the built-in census."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from undercover.datasets.census_income import salary_amounts
from undercover.datasets.population import (
    AGES,
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
from undercover.hierarchies.build import from_intervals
from undercover.model.hierarchy import Hierarchy
from undercover.model.schema import Column, Schema

QUASI_IDENTIFIERS = ("age", "sex", "education", "marital_status", "race", "work_class", "birthplace", "hours")


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
