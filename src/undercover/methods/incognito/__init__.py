"""Incognito: full-domain generalisation."""

from undercover.methods.incognito.method import Incognito as Incognito
