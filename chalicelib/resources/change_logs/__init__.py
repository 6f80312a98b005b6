"""Change logs."""
