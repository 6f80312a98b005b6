"""Callers' files: byte sources, names of formats, opening with FFmpeg, and what FFmpeg reads wrongly."""
