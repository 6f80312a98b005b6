"""Writers of the formats of marine and wildlife science."""
