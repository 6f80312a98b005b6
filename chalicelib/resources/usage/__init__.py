"""Usage of organizations, and its limits."""
