"""Files of office and statistics programs."""
