"""Email."""
