"""Stores chats, settings, presets and the window's state on the disk."""
