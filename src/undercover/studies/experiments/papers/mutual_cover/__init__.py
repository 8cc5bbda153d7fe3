"""Li, Wang & He."""
