"""Dealing rows into groups by their sensitive values."""
