"""Checked queries as SQL for the view."""
