"""Annotators: models behind HTTP that are given frames and answer boxes, and algorithms used in the same way."""
