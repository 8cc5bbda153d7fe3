"""Compiled array functions: arrays in, arrays out; no frames, no schema, no logging, no randomness of their own."""
