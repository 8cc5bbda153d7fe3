"""Mondrian: strict multidimensional recoding."""

from undercover.methods.mondrian.method import Mondrian as Mondrian
