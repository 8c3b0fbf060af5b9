"""Refusals in the words of the API that a path is of."""

from __future__ import annotations

from app.core.server.anthropic.events import error_body
from app.core.server.errors import ApiError


def body_of(error: ApiError, path: str) -> dict[str, object]:
    """The JSON object of a refusal: Anthropic's, Ollama's or OpenAI's."""
    if path.removeprefix("/v1").startswith("/messages"):
        return error_body(error)
    return {"error": error.message} if path.startswith("/api/") else error.body
