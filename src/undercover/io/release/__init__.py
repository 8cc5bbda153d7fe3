"""The release folder and its manifest."""
