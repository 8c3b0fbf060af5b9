"""What the refusals of engines mean: each becomes one sentence, whichever server wrote it."""

from __future__ import annotations

import json
import re
from typing import Any

from app.core.remote.errors import (
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
# OpenAI: "context_length_exceeded"; llama-server: "exceed_context_size_error", "exceeds the available context size";
# vLLM: "maximum context length is ...", "max_tokens=... cannot be greater than max_model_len=..."; SGLang: "is longer
# than the model's context length"; LM Studio: "Trying to keep the first ... tokens when context the overflows",
# "n_keep: ...", "Context size has been exceeded"; Ollama: "the input length exceeds the context length"; others that
# speak this API: "prompt is too long: ... tokens > ... maximum".
_TOO_LONG = re.compile(
    r"context_length_exceeded|exceed_context_size|context (?:length|size|window)|prompt is too long|n_keep|"
    r"longer than the maximum model length|maximum allowed length|input tokens exceed|max_model_len|"
    r"keep the first \d+ tokens",
    re.IGNORECASE,
)
# How many tokens the prompt has, without those of the answer where both are told. "at least 4097 tokens" is no count:
# vLLM stops counting there.
_PROMPT_TOKENS = re.compile(
    r"(\d{1,9}) (?:in the messages|tokens from the input messages)|has (\d{1,9}) input tokens|"
    r"resulted in (\d{1,9}) tokens|(?:input|request) \((\d{1,9}) tokens\)|"
    r"keep the first (\d{1,9}) tokens|n_keep: (\d{1,9})|too long: (\d{1,9}) tokens|"
    r"prompt contains (\d{1,9}) (?:input )?tokens|requested (\d{1,9}) tokens",
    re.IGNORECASE,
)
_ROOM = re.compile(
    r"maximum context length (?:is|of) (\d{1,9})|context (?:length|size) \((\d{1,9}) tokens\)|"
    r"context length of only (\d{1,9})|n_ctx: (\d{1,9})|max_model_len=(\d{1,9})|> (\d{1,9}) maximum|limit of (\d{1,9})",
    re.IGNORECASE,
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
        return _too_long(host, _number(found, "n_prompt_tokens", _PROMPT_TOKENS), _number(found, "n_ctx", _ROOM))
    return _other(status, host, reason, code, has_error=bool(found))


def _too_long(host: str, num_tokens: int, n_ctx: int) -> RemotePromptError:
    if num_tokens and n_ctx:
        words = said(
            "The conversation has {num_tokens:,} tokens, but {host} holds {n_ctx:,}, and the answer needs room.",
            num_tokens=num_tokens,
            host=host,
            n_ctx=n_ctx,
        )
    elif n_ctx:
        words = said("{host} holds {n_ctx:,} tokens; the conversation has more.", host=host, n_ctx=n_ctx)
    else:
        words = said("{host} has no room for this conversation.", host=host)
    error = RemotePromptError(words)
    error.num_tokens, error.n_ctx = num_tokens, n_ctx
    return error


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


def _number(found: dict[str, Any], field: str, pattern: re.Pattern[str]) -> int:
    """Read a number from an error's field or message; 0 where there is none."""
    reported = found.get(field)
    if isinstance(reported, int) and not isinstance(reported, bool) and 0 < reported < 10**9:
        return reported
    match = pattern.search(str(found.get("message") or found.get("detail") or ""))
    return next((int(each) for each in match.groups() if each is not None), 0) if match else 0
