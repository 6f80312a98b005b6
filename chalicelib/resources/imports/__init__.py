"""Imports of datasets."""
