"""Failures of tools and their servers that a person can meet."""

from __future__ import annotations

from app.core.domain.errors import AppError


class ToolServerError(AppError):
    """A server of tools could not be started, or failed."""

    title = "The tool server is not available"
    default_advice = "Restart it, or look at its log."


class ToolFileError(AppError):
    """A file that names tool servers cannot be used."""

    title = "The tool servers could not be read"
    default_advice = "Correct the file, or choose another one."
