"""Anatomy: quasi-identifiers and sensitive values in two tables."""
