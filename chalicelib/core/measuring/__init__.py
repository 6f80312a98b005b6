"""Lengths and places from pictures: cameras, pairs of cameras, and scales of one camera."""
