"""Cutting rows into groups by their quasi-identifiers."""
