"""The window: its parts put together."""
