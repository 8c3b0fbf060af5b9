"""Conversations: answers, branches, attachments, the context, unsent text."""
