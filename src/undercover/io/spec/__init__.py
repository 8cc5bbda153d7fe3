"""Specs in TOML: read, checked and written."""
