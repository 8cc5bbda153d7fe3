"""The experiment of "Mutual Cover": what is measured, what is claimed, what is shown."""
