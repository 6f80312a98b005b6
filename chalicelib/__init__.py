"""Limn, in layers; `docs/architecture.md` is the map."""

__version__ = "1.0.0"
"""The version of the service and of its interface. The metadata of the package read it from here."""
