"""How far work has come that functions do in several invocations: cursors, pieces of transcodes, streams."""
