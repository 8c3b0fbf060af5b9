"""Drafts with a vocabulary of their own: what the target says in their tokens, and what they say in the target's."""
