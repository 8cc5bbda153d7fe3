"""What methods claim for people who have several rows, beside what they claim for rows."""

from __future__ import annotations

from undercover.guarantees.k_anonymity import KAnonymity
from undercover.guarantees.l_diversity import LDiversity
from undercover.model.table import Table


def k_claims(k: int, table: Table) -> tuple[KAnonymity, ...]:
    """Of groups of at least k rows, of which nobody has more than one in k."""
    rows = KAnonymity(k=k)
    return (rows,) if table.units is None else (rows, KAnonymity(k=k, per=table.schema.unit))


def l_claims(l: int, table: Table) -> tuple[LDiversity, ...]:
    """Of groups whose rows are of different people and of different values."""
    rows = LDiversity(l=l)
    return (rows,) if table.units is None else (rows, LDiversity(l=l, per=table.schema.unit))
