"""The attack on cuts that were refused."""
