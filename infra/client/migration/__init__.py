"""Copy a project from another service of the same interface: `limn migrate`. See docs/guides/moving-in.md."""
