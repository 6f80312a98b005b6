"""Readers, one module for each format, and the archives and streams that they read."""
