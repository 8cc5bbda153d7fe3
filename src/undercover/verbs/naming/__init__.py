"""Cells that would publish an identifier, or a whole row that was swallowed."""
