"""The entries of requests in the audit log."""
