"""Rows with a bucket, and the values of each bucket in a table of their own."""
