"""Mutual cover: quasi-identifiers drawn from random output tables."""

from undercover.methods.mutual_cover.method import MutualCover as MutualCover
