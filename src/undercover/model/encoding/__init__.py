"""From values to codes: columns as distinct values and places among them, and what the values of a column are."""
