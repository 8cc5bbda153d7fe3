"""Publish what lies in Spark."""
