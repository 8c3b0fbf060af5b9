"""Limits and cleaning of texts for reading files of chats."""

from datetime import UTC, datetime

from app.core.domain.conversations import MAX_TITLE_CHARS, one_line
from app.core.domain.errors import ChatsImportError
from app.core.domain.messages import EPOCH
from engine.sentences import i18n

# Limits for files of other programs; our own exports are not limited.
MAX_CHATS = 50_000
MAX_MESSAGES = 50_000  # maximum in one conversation
MAX_ATTACHMENTS = 100  # maximum in one message
MAX_TEXT_CHARS = 4_000_000  # maximum in one message
PICTURE_PLACEHOLDER = "[picture]"  # replaces a missing picture, which may be the whole question
LATEST = datetime(2200, 1, 1, tzinfo=UTC)


def clean_text(value: object) -> str:
    """A text that can be stored; empty if ``value`` is not a text.

    Raises:
        ChatsImportError: the text is too long.
    """
    if isinstance(value, str) and len(value) > MAX_TEXT_CHARS:
        raise ChatsImportError(i18n("A message has more than {limit:,} characters.", limit=MAX_TEXT_CHARS))
    return whole_text(value)


def whole_text(value: object) -> str:
    """A text of any length that can be stored; empty if ``value`` is not a text."""
    return value.encode("utf-8", errors="replace").decode("utf-8").replace("\x00", "") if isinstance(value, str) else ""


def with_reasoning(text: str, thought: str) -> str:
    """Combine an answer and its reasoning in the format of models (see `app.core.domain.thinking`)."""
    inside = thought.replace("</think>", "").strip()
    return f"<think>\n{inside}\n</think>\n\n{text}" if inside else text


def clean_title(value: object) -> str:
    """A title as one line of limited length."""
    return one_line(whole_text(value[: 10 * MAX_TITLE_CHARS])) if isinstance(value, str) else ""


def clean_time(value: object, scale: float = 1.0) -> datetime:
    """Convert ``value`` times ``scale`` seconds since 1970; the epoch for an invalid value."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return EPOCH
    if not 0 <= value <= (LATEST - EPOCH).total_seconds() / scale:  # false for NaN
        return EPOCH
    return datetime.fromtimestamp(value * scale, UTC)
