"""Queue functions: each a Lambda of its own, sharing `chalicelib`."""
