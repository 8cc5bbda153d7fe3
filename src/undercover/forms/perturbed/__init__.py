"""One row for several people, its value through a public channel."""
