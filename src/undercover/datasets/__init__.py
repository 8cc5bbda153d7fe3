"""The built-in census generator and the small tables of the papers."""
