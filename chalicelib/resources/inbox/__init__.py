"""The inbox of a user."""
