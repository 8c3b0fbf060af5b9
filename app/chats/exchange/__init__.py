"""Conversations to files and back: our own format, Markdown, exports of others. Nothing in a file is trusted."""
