"""What published tables stand for: a release, read by its form."""
