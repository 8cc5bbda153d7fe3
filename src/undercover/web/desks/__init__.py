"""What is kept on disk: desks, the tables on them, and what was decided about each."""
