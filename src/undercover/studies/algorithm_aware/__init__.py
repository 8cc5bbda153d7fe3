"""The adversary who knows the algorithm, and sees everything that is published."""
