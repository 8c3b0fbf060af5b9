"""Markdown that arrives in pieces, parsed with the place of every token. Draws nothing."""
