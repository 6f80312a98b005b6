"""What things are: Structs and pure functions, no I/O."""
