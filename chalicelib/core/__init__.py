"""Entities, records, definitions and their values: structs and pure functions, no I/O."""
