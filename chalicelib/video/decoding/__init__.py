"""From bytes to upright frames by number."""
