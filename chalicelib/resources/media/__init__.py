"""Media."""
