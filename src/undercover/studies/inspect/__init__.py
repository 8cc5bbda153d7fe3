"""Looking at a table before anything is published."""
