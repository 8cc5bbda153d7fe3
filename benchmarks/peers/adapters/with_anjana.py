"""anjana: one level for the whole of a column, raised greedily, and rows of small classes left out."""

from __future__ import annotations

from anjana.anonymity import k_anonymity, l_diversity
from timed import frame, measured, settings

asked = settings()
data, names = frame(asked), asked["quasi_identifiers"]
trees = {}
for name in names:
    levels = [list(level) for level in zip(*asked["hierarchies"][name], strict=True)]
    if name in asked["numbers"]:
        levels[0] = [int(leaf) for leaf in levels[0]]
    trees[name] = dict(enumerate(levels))
share = 100 * asked["suppression"]
if asked["l"] is None:
    found = measured("anjana", asked, lambda: k_anonymity(data, [], names, asked["k"], share, trees))
else:
    found = measured(
        "anjana",
        asked,
        lambda: l_diversity(data, [], names, asked["sensitive"], asked["k"], asked["l"], share, trees),
    )
found.to_csv(asked["output"], index=False)
