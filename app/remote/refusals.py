"""What the refusals of engines mean: each becomes one sentence, whichever server wrote it."""

from __future__ import annotations

import json
import re
from typing import Any

from app.remote.errors import (
    EngineAddressError,
    EngineAnswerError,
    EngineBusyError,
    EngineRefusedError,
    KeyRefusedError,
    ModelGoneError,
    RemoteError,
    RemotePromptError,
)
from engine.sentences import said

MAX_REASON_CHARS = 300
# vLLM: "maximum context length is 4096 tokens. However, you requested 5000 tokens"; SGLang: "is longer than the model's
# context length"; llama-server: "exceed_context_size_error", "exceeds the available context size"; OpenAI:
# "context_length_exceeded".
_TOO_LONG = re.compile(
    r"context_length_exceeded|exceed_context_size|maximum context length|context (?:length|size|window)|"
    r"longer than the maximum model length|maximum allowed length",
    re.IGNORECASE,
)
_REQUESTED = re.compile(
    r"(?:requested|request has|prompt contains(?: at least)?|input_tokens|input \(?|request \()\s*\(?(\d{1,9})", re.I
)
_GONE = re.compile(r"model[^.]{0,200}(?:does not exist|not found|not loaded|not exist)|model_not_found", re.IGNORECASE)


def refusal(status: int, body: bytes, host: str, *, had_key: bool) -> RemoteError:
    """The failure that an answer with this status and body is; a reason in it is cut and loses its control characters.

    A failure in the middle of a stream has the status 500.
    """
    reason, code, found = _reason(body)
    if 300 <= status < 400:
        words = said("{host} redirects to another address, which is not followed.", host=host)
        return EngineAddressError(words, "Give the address itself to which the engine is moved.")
    if status in (401, 403):
        return _of_key(host, had_key=had_key)
    if _TOO_LONG.search(f"{reason} {code}") and status in (400, 413, 422, 500):
        error = RemotePromptError(said("{host} has no room for this conversation.", host=host))
        error.num_tokens = _tokens(found, reason)
        return error
    return _other(status, host, reason, code, has_error=bool(found))


def _of_key(host: str, *, had_key: bool) -> RemoteError:
    if had_key:
        return KeyRefusedError(said("{host} does not accept the key.", host=host))
    return KeyRefusedError(said("{host} wants a key, and none is kept for it.", host=host), "Enter its key.")


def _other(status: int, host: str, reason: str, code: str, *, has_error: bool) -> RemoteError:
    if _GONE.search(f"{reason} {code}") or (status == 404 and has_error):
        return ModelGoneError(said("{host} does not offer the model.", host=host))
    if status == 404:
        return EngineAnswerError(said("{host} knows no such page.", host=host))
    if status in (408, 429, 503, 529):
        return EngineBusyError(said("{host} takes no request now ({status}).", host=host, status=status))
    if reason:
        return EngineRefusedError(said("{host}: {reason}", host=host, reason=reason))
    return EngineRefusedError(said("{host} answered with status {status}.", host=host, status=status))


def _reason(body: bytes) -> tuple[str, str, dict[str, Any]]:
    """Message, kind and all fields of an error in any of the shapes in use."""
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        return "", "", {}
    found = data.get("error", data) if isinstance(data, dict) else {}
    if isinstance(found, str):
        found = {"message": found}
    if not isinstance(found, dict):
        return "", "", {}
    message = found.get("message") or found.get("detail") or ""
    code = f"{found.get('code', '')} {found.get('type', '')}"
    return _shown(str(message)), code[:200], found


def _shown(text: str) -> str:
    plain = " ".join("".join(char if char.isprintable() else " " for char in text[: 4 * MAX_REASON_CHARS]).split())
    return plain if len(plain) <= MAX_REASON_CHARS else plain[: MAX_REASON_CHARS - 1] + "…"


def _tokens(found: dict[str, Any], reason: str) -> int:
    told = found.get("n_prompt_tokens")
    if isinstance(told, int) and 0 < told < 10**9:
        return told
    match = _REQUESTED.search(reason)
    return int(match[1]) if match else 0
