"""Exports: a project's media and annotations as an archive in the formats of other tools."""
