"""The attacker who knows some of the columns."""
