"""Linkage as its story tells it: for every person look at every published row; in fractions, on written cells."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import undercover as uc

Row = dict[str, Any]


def fits(cell: Any, value: Any, hierarchy: uc.Hierarchy | None = None) -> bool:
    """Whether a value lies in a published cell; cells of the test tables need no quotes but for missing."""
    text = "" if cell is None else str(cell)
    if text == "*":
        return True
    if value is None:
        return text == "" or (text[0] == "{" and '""' in text[1:-1].split(", "))
    if text == "":
        return False
    if text[0] == "[":
        low, high = text[1:-1].split(", ")
        return float(low) <= float(value) <= float(high)
    if text[0] == "{":
        return str(value) in text[1:-1].split(", ")
    if hierarchy is not None:
        return any(row[0] == str(value) and text in row for row in hierarchy.rows)
    return text == str(value)


class PlainLinkage:
    """What the attacker gets on every row of ``original`` from ``published`` rows that each have ``shares``."""

    def __init__(
        self,
        original: Sequence[Row],
        published: Sequence[Row],
        shares: Sequence[dict[str, dict[Any, Fraction]]],
        known: Sequence[str],
        sensitive: Sequence[str],
        hierarchies: dict[str, uc.Hierarchy] | None = None,
    ) -> None:
        trees = hierarchies or {}
        self.matches: list[int] = []
        self.attribute: dict[str, list[Fraction]] = {name: [] for name in sensitive}
        self.hits: dict[str, list[Fraction]] = {name: [] for name in sensitive}
        for person in original:
            found = [
                i
                for i, row in enumerate(published)
                if all(fits(row[name], person[name], trees.get(name)) for name in known)
            ]
            self.matches.append(len(found))
            for name in sensitive:
                belief: Counter[Any] = Counter()
                for i in found:
                    for value, share in shares[i][name].items():
                        belief[value] += share / len(found)
                if person[name] is not None:  # a missing value is no value: asked among those who have one
                    there = 1 - belief.pop(None, Fraction(0))
                    belief = Counter({value: share / there for value, share in belief.items()})
                best = [value for value, share in belief.items() if share == max(belief.values())]
                self.attribute[name].append(Fraction(belief[person[name]]))
                self.hits[name].append(Fraction(person[name] in best, max(len(best), 1)))


def shares_of_rows(rows: Sequence[Row], sensitive: Sequence[str]) -> list[dict[str, dict[Any, Fraction]]]:
    """A generalised table shows each row's own value."""
    return [{name: {row[name]: Fraction(1)} for name in sensitive} for row in rows]


def shares_of_buckets(qit: Sequence[Row], sat: Sequence[Row], name: str) -> list[dict[str, dict[Any, Fraction]]]:
    """Two tables show the values of the row's bucket."""
    sizes: Counter[int] = Counter()
    for row in sat:
        sizes[row["bucket"]] += row["count"]
    return [
        {
            name: {
                entry[name]: Fraction(entry["count"], sizes[row["bucket"]])
                for entry in sat
                if entry["bucket"] == row["bucket"]
            }
        }
        for row in qit
    ]
