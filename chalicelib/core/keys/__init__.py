"""Keys of objects: their forms, and the keys that the service may act on."""
