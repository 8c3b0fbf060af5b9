"""Drafters propose tokens for the target to verify. They know token ids only, never text."""
