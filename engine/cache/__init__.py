"""Kept states of conversations, in memory and on the disk."""
