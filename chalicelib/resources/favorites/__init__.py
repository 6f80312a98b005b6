"""Favorites."""
