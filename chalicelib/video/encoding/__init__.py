"""Renditions: pieces, their assembly, archival copies and clips."""
