"""Which way a text is read. Pure, no Qt."""

from __future__ import annotations

import unicodedata


def is_right_to_left(text: str) -> bool:
    """Whether the first letter that has a direction is read from right to left (Unicode's rule P2)."""
    for letter in text:
        direction = unicodedata.bidirectional(letter)
        if direction in ("R", "AL"):
            return True
        if direction == "L":
            return False
    return False
