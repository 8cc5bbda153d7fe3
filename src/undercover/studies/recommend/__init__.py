"""Which release to make of a table."""
