"""Ollama's API, for programs that speak it alone: requests read as those of a chat, answers as lines of JSON."""
