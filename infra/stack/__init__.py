"""The templates of a deployment: how they are put together, and what they cost."""
