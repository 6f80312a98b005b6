"""Notifications: who is told of what."""
