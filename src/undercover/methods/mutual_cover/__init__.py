"""Mutual cover: quasi-identifiers drawn from random output tables."""
