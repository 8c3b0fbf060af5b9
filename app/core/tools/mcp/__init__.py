"""Servers over the Model Context Protocol: their entries, processes, sessions, and what they give."""
