"""Engines of others: OpenAI's API over HTTP, spoken as a client."""
