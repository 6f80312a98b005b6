"""Who calls, at which level, and which rows a caller may see."""
