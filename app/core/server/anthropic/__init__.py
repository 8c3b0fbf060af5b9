"""Anthropic's Messages API: converts its requests to chat requests, and formats answers as its events."""
