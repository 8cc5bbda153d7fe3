"""A release as a step of a pipeline: rows in the order of their input, for the holder alone."""
