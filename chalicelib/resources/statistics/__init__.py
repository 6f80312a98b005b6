"""Statistics over the entities that a query selects."""
