"""Layers made of the copies of several people."""
