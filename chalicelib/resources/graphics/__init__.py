"""Graphics."""
