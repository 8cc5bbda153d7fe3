"""Cheong, Wu & Wong."""
