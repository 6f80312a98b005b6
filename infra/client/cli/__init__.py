"""The command `limn`: see docs/guides/command-line.md."""
