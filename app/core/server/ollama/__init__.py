"""Ollama's API: converts its requests to chat requests, and formats answers as JSON lines."""
