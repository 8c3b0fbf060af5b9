"""Drafts with another vocabulary: translates between the tokens of the target and those of the draft."""
