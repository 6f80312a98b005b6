"""Versions of datasets: the result of a query at a commit, kept under a name."""
