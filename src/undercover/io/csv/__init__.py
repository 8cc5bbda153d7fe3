"""CSV files: reading, writing, separators and kinds."""
