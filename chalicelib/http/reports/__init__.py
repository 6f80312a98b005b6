"""What is told of requests: their entries in the audit log."""
