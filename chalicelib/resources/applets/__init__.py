"""Applets."""
