"""Other people's Python packages and ours on the same tables: `make bench-peers`, docs/guide/peers.md."""
