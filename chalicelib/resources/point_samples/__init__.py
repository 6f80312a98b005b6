"""Sampled points."""
