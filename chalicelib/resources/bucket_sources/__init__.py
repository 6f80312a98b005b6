"""Bucket sources: prefixes of registered buckets whose objects are media where they lie."""
