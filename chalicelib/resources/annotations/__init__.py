"""Annotations."""
