"""Servers over the Model Context Protocol: their entries, processes, sessions, tools and results."""
