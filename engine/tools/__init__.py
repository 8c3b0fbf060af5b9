"""Offline tools on GGUF files. They know nothing of sessions or of the window."""
