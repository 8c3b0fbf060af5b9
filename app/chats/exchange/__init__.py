"""Conversations to files and back: our own format, Markdown, exports of others. Knows no window, trusts no file."""
