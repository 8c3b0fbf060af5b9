"""Tools that a model may call: MCP servers, built-in tools, permissions, and the loop of a turn."""
