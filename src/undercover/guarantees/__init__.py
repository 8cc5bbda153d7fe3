"""The guarantees, one file each, and the verification that recomputes them from published tables alone."""
