"""Bulk."""
