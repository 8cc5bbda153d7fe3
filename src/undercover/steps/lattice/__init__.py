"""Searching the lattice of full-domain generalisations."""
