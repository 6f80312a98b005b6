"""Temporary files."""
