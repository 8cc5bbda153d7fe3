"""What is left next to the tables of others."""
