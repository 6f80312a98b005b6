"""Reports of how far layers of annotations agree."""
