"""Mondrian: strict multidimensional recoding."""
