"""Cross-bucket generalization: groups one way, buckets the other."""

from undercover.methods.cross_bucket.method import CrossBucket as CrossBucket
