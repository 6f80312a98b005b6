"""Objects in S3, Google Cloud Storage and registered buckets: keys, URLs, owners."""
