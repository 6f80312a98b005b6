"""Child processes that run functions on untrusted media."""
