"""Mondrian: strict multidimensional recoding."""

from undercover.methods.mondrian.method import Mondrian

__all__ = ["Mondrian"]
