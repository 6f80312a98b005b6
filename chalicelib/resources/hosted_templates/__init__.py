"""Hosted templates."""
