"""Decisions about columns, when the table is read anew: those about columns that are still there are kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from undercover.io.spec.load import ROLES

_NAMED = ("unit", "weight")


def fitted(spec: Mapping[str, Any], names: Sequence[str]) -> tuple[dict[str, Any], list[str]]:
    """The spec without what it says of columns that are not there; and these columns.

    >>> fitted({"roles": {"sensitive": ["pay", "age"], "unit": "person"}, "columns": {"pay": {}}}, ["age"])
    ({'roles': {'sensitive': ['age']}}, ['pay', 'person'])
    """
    kept, gone = dict(spec), []
    known = {*names, "*"}
    if "roles" in kept:
        roles = dict(kept["roles"])
        for role in ROLES:
            said = [roles[role]] if isinstance(roles.get(role), str) else list(roles.get(role, ()))
            gone += [name for name in said if name not in known]
            if role in roles:
                roles[role] = [name for name in said if name in known]
        for role in _NAMED:
            if roles.get(role) is not None and roles[role] not in known:
                gone.append(roles.pop(role))
        kept["roles"] = {role: said for role, said in roles.items() if said != []}
    if "columns" in kept:
        gone += [name for name in kept["columns"] if name not in known]
        kept["columns"] = {name: said for name, said in kept["columns"].items() if name in known}
    if not kept.get("columns", True):
        del kept["columns"]
    return kept, list(dict.fromkeys(gone))
