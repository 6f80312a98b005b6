"""DuckDB, devices over files in S3, and packs of documents."""
