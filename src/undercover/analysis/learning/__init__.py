"""Learning from a release whose values went through a channel."""
