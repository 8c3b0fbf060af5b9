"""Markdown that arrives in pieces, parsed with the place of every token in the source. No Qt."""
