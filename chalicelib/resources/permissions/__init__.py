"""Permissions."""
