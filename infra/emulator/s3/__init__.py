"""S3 on this machine: its port, signatures, and objects kept as files."""
