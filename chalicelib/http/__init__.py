"""The declaration of operations, and the path of every request."""
