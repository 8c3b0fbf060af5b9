"""Composition: command line, settings, paths, logs, stored chats, controller. Knows both the engine and the window."""

__version__ = "0.1.0"
