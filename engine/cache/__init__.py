"""Saved caches of conversations, in memory and on the disk."""
