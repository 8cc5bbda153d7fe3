"""What the texts of a column are, where nobody said it: dates, or values that have an order."""
