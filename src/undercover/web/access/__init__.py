"""Who may come in, and what a request may do: tokens, sessions, forms, headers."""
