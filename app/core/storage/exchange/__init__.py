"""Conversations to files and back: our own format, Markdown, exports of others. Trusts no file."""
