"""The SQLite database that holds the state of the local stack, what waits for it, and how damage of it is found."""
