"""`limn mcp`: a project for agents, by the Model Context Protocol. See docs/guides/programs.md."""
