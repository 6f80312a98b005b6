"""Commits of a project's log, and entries of the change log."""
