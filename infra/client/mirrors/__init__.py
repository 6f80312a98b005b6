"""Folders and buckets kept in step with a project."""
