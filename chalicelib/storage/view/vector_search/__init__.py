"""Columns of vectors in memory, and nearest neighbours."""
