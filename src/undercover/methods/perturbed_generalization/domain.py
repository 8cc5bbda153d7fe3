"""From which values perturbed generalization draws: public knowledge, never what stands in the table.

A column declares its domain, or has a hierarchy whose leaves it is. Leaves that were taken from a table (by a recipe
such as ``intervals``) tell what is in it, so they are no domain.
"""

from __future__ import annotations

from undercover.model.schema import Column
from undercover.model.table import Table
from undercover.wording import in_column


def declared_domain(column: Column) -> tuple[str, ...] | None:
    """The values a column declares, or else the leaves of its hierarchy.

    >>> from undercover.model.hierarchy import Hierarchy
    >>> tree = [("flu", "airways"), ("asthma", "airways"), ("gout", "joints")]
    >>> declared_domain(Column(hierarchy=Hierarchy(tree)))
    ('flu', 'asthma', 'gout')
    >>> declared_domain(Column(hierarchy=Hierarchy(tree, observed=True))) is None
    True
    """
    if column.domain is not None or column.hierarchy is None or column.hierarchy.observed:
        return column.domain
    return column.hierarchy.leaves


def from_leaves(sensitive: str, size: int) -> str:
    """What the holder is told of a domain that nobody declared by itself."""
    return (
        f"Values of `{sensitive}` are drawn from the {size:,} leaves of its hierarchy, which are published as what it "
        f"can be. If these are not public knowledge, declare what is: {in_column(sensitive, domain=...)}."
    )


def undeclared(table: Table, sensitive: str) -> str:
    """That nobody said from which values to draw, and how to say it."""
    amounts = (
        " Numbers are drawn from the declared ones only. Amounts are put into declared bins instead: "
        f"{in_column(sensitive, bins=[0, 10000, 20000])}, from public knowledge and not from the data."
    )
    return (
        f"PerturbedGeneralization draws values from a declared public domain. Say which values `{sensitive}` can have: "
        f"{in_column(sensitive, domain=...)}; or give it a hierarchy of a file, whose leaves they are."
        f"{amounts if table[sensitive].domain.kind == 'numeric' else ''}"
    )
