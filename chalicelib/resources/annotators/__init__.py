"""Annotators: models over HTTP that return boxes for frames, and algorithms used in the same way."""
