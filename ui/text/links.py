"""Which links may be opened. Pure; `ui.widgets.dialogs` asks the user."""

from urllib.parse import urlsplit

SAFE_SCHEMES = frozenset({"http", "https", "mailto"})


def is_safe(address: str) -> bool:
    if not address.isprintable():  # control characters may be invisible or change the writing direction
        return False
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    if parts.scheme.lower() not in SAFE_SCHEMES:
        return False
    # Text before an @ looks like the host but is not: https://bank.example@elsewhere.example
    return bool(parts.netloc and "@" not in parts.netloc) or parts.scheme.lower() == "mailto"
