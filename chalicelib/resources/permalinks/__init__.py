"""Permalinks."""
