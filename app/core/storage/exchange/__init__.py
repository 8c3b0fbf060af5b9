"""Conversations to files and back: our own format, Markdown, other programs' exports. No file is trusted."""
