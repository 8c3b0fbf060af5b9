"""The open chat: its messages, selection, search and printing."""
