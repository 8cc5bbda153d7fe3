"""Policies: what each means for the people of one table, and one of one's own from the fields of a form.

A meaning is a key of the catalogue with its values; the numbers are those of the table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import ceil, floor
from typing import Any

from starlette.datastructures import FormData

from undercover.model.about import Holding
from undercover.model.figures import baseline, risk
from undercover.model.policy import POLICIES, Policy, policy_of
from undercover.parameters import Parameter, describe
from undercover.web.protecting.fields import Field, filled, number_of

OWN = "own"
Meaning = tuple[str, dict[str, Any]]


def limits() -> list[Parameter]:
    """What a policy limits, as it is declared; its name and the harmful values are asked for by themselves."""
    return [each for each in describe(Policy) if each.name not in ("name", "harmful")]


def fields_of(policy: Policy) -> list[Field]:
    """The fields of a policy of one's own, filled with the limits of another."""
    values = {each.name: getattr(policy, each.name) for each in limits()}
    return [
        Field(field.parameter, "" if values[field.name] is None else field.value)
        for field in filled(limits(), values, {})
    ]


def spec_of(form: FormData, sensitive: tuple[str, ...]) -> dict[str, Any]:
    """``[policy]`` of a spec from a form: a built-in one by its name, or one's own. Raises what contradicts itself."""
    name = str(form.get("policy", ""))
    if name in POLICIES:
        return {"name": name}
    found: dict[str, Any] = {"name": OWN}
    for each in limits():
        said = form.get(each.name)
        text = said.strip() if isinstance(said, str) else ""
        if each.kind == "bool":
            found[each.name] = text == "true"
        elif each.kind == "choice":
            found[each.name] = text or each.default
        elif text or each.optional:
            found[each.name] = number_of(text) if text else "none"
    harmful = {column: _several(form, f"harmful.{column}") for column in sensitive}
    found["harmful"] = {column: values for column, values in harmful.items() if values}
    policy_of(found)
    return found


def _several(form: FormData, name: str) -> list[str]:
    """Values that were chosen one by one, or written one a line."""
    said = (text for text in form.getlist(name) if isinstance(text, str))
    return list(dict.fromkeys(line.strip() for text in said for line in text.splitlines() if line.strip()))


def meaning(policy: Policy, holding: Holding, profile: Mapping[str, Any], language: str) -> list[Meaning]:
    """What a policy means for a table, one sentence after the other."""
    if not policy.judges:
        return [("protect.means.nothing", {})]
    return [*_of_rows(policy, holding, language), *_of_values(policy, holding, profile, language), *_beside(policy)]


def _of_rows(policy: Policy, holding: Holding, language: str) -> Iterator[Meaning]:
    known = _names(holding.schema.quasi_identifiers)
    if policy.found is not None:
        k = max(1, ceil(1 / Fraction(str(policy.found))))
        share = percent(float(policy.found), language)
        key = "found" if policy.presence_known else "found_in_population"
        yield f"protect.means.{key}", {"share": share, "k": k}
        today = {"n": holding.alone, "people": holding.people, "columns": known}
        yield "protect.means.today" if holding.alone else "protect.means.today_nobody", today
    if policy.membership is not None:
        yield "protect.means.membership", {"share": percent(float(policy.membership), language)}
    if policy.singled_out is not None and holding.schema.insensitive:
        names = _names(holding.schema.insensitive)
        most = floor(Fraction(str(policy.singled_out)) * holding.people)
        yield "protect.means.singled_out", {"columns": names, "n": most}


def _of_values(policy: Policy, holding: Holding, profile: Mapping[str, Any], language: str) -> Iterator[Meaning]:
    if policy.belief is None:
        return
    belief, gain = percent(float(policy.belief), language), percent(float(policy.gain), language)
    for column, counts in holding.counts.items():
        harmful = policy.harmful.get(column)
        values = {"column": f"`{column}`", "belief": belief, "gain": gain}
        if harmful:
            yield "protect.means.harmful", {**values, "values": ", ".join(f"`{value}`" for value in harmful)}
        else:
            yield "protect.means.belief", values
        share = counts[0] / holding.rows
        top = {**values, "value": _most_frequent(column, profile), "share": percent(share, language, up=False)}
        known = share + float(policy.gain) > 1 and not harmful
        if known or share >= float(policy.belief):
            yield "protect.means.frequent" if known else "protect.means.too_frequent", top
        else:
            yield "protect.means.guessing", top
    if holding.counts:
        most = floor(Fraction(str(policy.exposed)) * holding.people)
        yield "protect.means.exposed" if most else "protect.means.nobody", {"n": most}
    if policy.known_values:
        yield "protect.means.known_values", {}


def _beside(policy: Policy) -> Iterator[Meaning]:
    yield f"protect.means.algorithm_{policy.algorithm_safe}", {}


def _most_frequent(column: str, profile: Mapping[str, Any]) -> str:
    found = profile["values"].get(column, {})
    values, counts = found.get("values"), found.get("counts")
    return f"`{values[max(range(len(counts)), key=counts.__getitem__)]}`" if counts else "…"


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def percent(share: float, language: str, *, up: bool = True) -> str:
    """A share as people of a language read it.

    >>> percent(0.125, "de"), percent(0.125, "en")
    ('12,5 %', '12.5%')
    """
    text = risk(share) if up else baseline(share)
    return text.replace(".", ",").replace("%", " %") if language == "de" else text
