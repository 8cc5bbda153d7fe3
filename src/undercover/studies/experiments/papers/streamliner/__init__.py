"""Liu & Wang."""
