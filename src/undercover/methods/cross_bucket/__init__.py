"""Cross-bucket generalization: groups one way, buckets the other."""
