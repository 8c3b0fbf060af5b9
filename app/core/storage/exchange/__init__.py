"""Exports and imports conversations: our own format, Markdown, other programs' exports. All files are untrusted."""
