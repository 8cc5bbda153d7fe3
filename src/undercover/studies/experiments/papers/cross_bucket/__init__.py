"""Li, Liu, Han & Zhang."""
