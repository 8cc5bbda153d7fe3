"""Every method on one table."""
