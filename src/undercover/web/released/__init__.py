"""What was made of a table: its releases side by side, and packed for download."""
