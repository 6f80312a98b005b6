"""Scores of people on tasks whose reference is known."""
