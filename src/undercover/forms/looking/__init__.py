"""Looking for some people in all published rows, without making boxes of these."""
