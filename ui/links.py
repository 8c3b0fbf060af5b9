"""Which addresses in an answer may be opened at all. Pure; the question to the user is `ui.link_dialog`'s."""

from __future__ import annotations

from urllib.parse import urlsplit

SAFE_SCHEMES = frozenset({"http", "https", "mailto"})


def is_safe(address: str) -> bool:
    """True for http, https and mailto; whatever else an answer names is never opened."""
    if any(ord(char) < 32 or ord(char) == 127 for char in address):
        return False
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    if parts.scheme.lower() not in SAFE_SCHEMES:
        return False
    return bool(parts.netloc or parts.scheme.lower() == "mailto")
