"""For recipients: answers from a release, with error bars."""
