"""Mondrian-style partitioning with a predicate, shared by several methods."""
