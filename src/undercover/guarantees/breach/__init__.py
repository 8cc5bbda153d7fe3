"""How far anybody's confidence can rise."""
