"""Pairs of target and draft: recommends them, finds them, and assesses them before a download."""
