"""The `limn` command: a client of the REST interface. It imports nothing of the service, and the service nothing of it.

Installed with `pip install .[cli]` as the package `limn`. See docs/guides/command-line.md.
"""
