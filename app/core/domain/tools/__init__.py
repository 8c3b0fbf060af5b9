"""Calls of tools, and their servers, as they are stored and shown."""
