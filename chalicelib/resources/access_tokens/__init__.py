"""Access tokens."""
