"""What a recipient asks a release: which rows satisfy predicates, how many, and what they add up to."""
