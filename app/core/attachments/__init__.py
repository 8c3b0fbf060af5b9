"""Reads the files attached to a message, with limits. Independent of window and storage."""
