"""Scheduled work: compaction, upkeep and the rebuild of views."""
