"""Snapshots of views in S3: their files and records, and views remade in another shape."""
