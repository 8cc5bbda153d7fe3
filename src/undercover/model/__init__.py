"""The nouns: schema, hierarchy, table, groups, release, run, and the protocols between the rooms."""
