"""Tools that a model may call: servers over MCP, what is built in, what may run, and the turn."""
