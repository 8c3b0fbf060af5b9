"""Messages as Anthropic's API has them: requests read as those of a chat, answers as its events."""
