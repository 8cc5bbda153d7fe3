"""One table whose cells cover the truth."""
