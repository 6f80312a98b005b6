"""The feed of a project's changes."""
