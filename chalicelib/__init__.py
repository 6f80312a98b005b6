"""Limn, in layers; `docs/architecture.md` is the map."""
