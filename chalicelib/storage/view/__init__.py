"""A project as of its last commit, in DuckDB: snapshots, the view and what keeps it current."""
