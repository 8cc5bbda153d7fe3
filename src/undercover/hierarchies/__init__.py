"""Building and checking hierarchies: from files, intervals, prefixes and dates."""
