"""What a pass of the target can do beside giving its own next token."""

from __future__ import annotations

from enum import Enum


class Choice(Enum):
    """What a pass does."""

    PLAIN = "plain"
    TEXT = "text"
    MODEL = "draft"
