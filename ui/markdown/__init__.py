"""Parses streamed Markdown with the source position of every token. No Qt."""
