"""The compiled steps."""
