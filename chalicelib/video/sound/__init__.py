"""The sound of videos."""
