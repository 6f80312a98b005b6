"""Statistics of a query: as bound, in plain Python, and as SQL."""
