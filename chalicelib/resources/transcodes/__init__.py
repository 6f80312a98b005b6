"""Transcodes."""
