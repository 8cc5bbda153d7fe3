"""The columns of a table: what is decided of each, its levels, and what that does to the people in it."""
