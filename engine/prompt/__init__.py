"""Converts messages to token ids."""
