"""Readers of the formats of marine and wildlife science."""
