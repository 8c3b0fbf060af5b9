"""Tool calls and tool servers, as they are stored and shown."""
