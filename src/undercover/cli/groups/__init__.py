"""Commands that have commands of their own."""
