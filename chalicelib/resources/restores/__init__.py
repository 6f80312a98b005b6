"""Undoing deletions."""
