"""crowds: OLA over the lattice of levels, with a share of rows left out; it knows k-anonymity only."""

from __future__ import annotations

from crowds.kanonymity.generalizations import GenRule
from crowds.kanonymity.ola import anonymize
from timed import frame, measured, settings

asked = settings()
data = frame(asked)
rules = {}
for name in asked["quasi_identifiers"]:
    leaf = int if name in asked["numbers"] else str
    levels = list(zip(*asked["hierarchies"][name], strict=True))
    # The root is a level of its own there, so it is not given.
    rules[name] = GenRule([dict(zip(map(leaf, levels[0]), level, strict=True)).get for level in levels[1:-1]])
found, _ = measured("crowds", asked, lambda: anonymize(data, rules, k=asked["k"], max_sup=100 * asked["suppression"]))
found.to_csv(asked["output"], index=False)
