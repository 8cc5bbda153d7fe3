"""Incognito: full-domain generalisation."""
