"""Checked bulk changes that depend on each entity: frames, attributes from CSV, and URLs of files."""
