"""Rows and values that changed places: who was dealt with whom, and what is believed of what is shown."""
