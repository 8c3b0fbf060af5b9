"""Drafts with another vocabulary: translates between the tokens of target and draft."""
