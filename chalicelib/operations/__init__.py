"""The operations of the interface: one file per resource, each with its tuple `OPERATIONS`."""
