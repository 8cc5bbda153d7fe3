"""Privacy streamliner: groups that tell nothing beyond themselves."""
