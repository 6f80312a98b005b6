"""Access control: the caller, their levels, and the rows that they may see."""
