"""The open chat: its messages, selection and search."""
