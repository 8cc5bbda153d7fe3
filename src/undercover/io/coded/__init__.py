"""Large tables, read batch by batch: of every column its values once, and codes of one or two bytes for its rows."""
