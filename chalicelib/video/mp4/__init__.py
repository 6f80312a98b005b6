"""MP4 boxes, segment files and runs of fragments."""
