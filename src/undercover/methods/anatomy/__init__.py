"""Anatomy: quasi-identifiers and sensitive values in two tables."""

from undercover.methods.anatomy.method import Anatomy as Anatomy
