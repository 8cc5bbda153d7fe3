"""A table in its old shape whose quasi-identifiers were drawn."""
