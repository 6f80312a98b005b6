"""Frozen versions of datasets for training: frames, decoded on this machine, and labels (docs/guides/programs.md)."""
