"""Experiments: what a paper measured, measured again, with a verdict on each thing it says."""
