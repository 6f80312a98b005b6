"""Writers, one module for each format, and archives that are written in parts."""
