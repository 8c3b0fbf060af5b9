"""Tokenizes, detokenizes, applies chat templates and counts tokens, as llama.cpp's server does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from app.core.server.anthropic.request import parse_messages_request
from app.core.server.engine_job import SessionCall
from app.core.server.fields import Fields, invalid, missing, warnings_so_far, wrong_type
from app.core.server.protocol import ServedModel, parse_request, token_ids
from app.core.server.response_request import parse_response_request

if TYPE_CHECKING:
    from engine.records import ChatRequest
    from engine.session.session import Session

MAX_CONTENT_CHARS = 200_000  # tokenizing so many takes up to two seconds, while other requests wait
Json = dict[str, object]
_COUNT = "response.input_tokens"  # the ``object`` field of OpenAI's token counts
BodyReader = Callable[[Json, ServedModel], SessionCall]  # returns a call whose result is the response's JSON


def read_tokenize(body: Json, model: ServedModel) -> SessionCall:
    """Read the body of a request to ``/tokenize``: a text, or a list that mixes texts and token ids.

    Raises:
        ApiError: 400 with the field to blame.
    """
    fields = _fields(body)
    content, adds_special = _needed(fields, "content"), fields.flag("add_special")
    special, with_pieces = fields.flag("parse_special", default=True), fields.flag("with_pieces")
    fields.end()
    parts = content if isinstance(content, list) else [content]
    if sum(len(part) for part in parts if isinstance(part, str)) > MAX_CONTENT_CHARS:
        raise invalid("content", f"`content` may have {MAX_CONTENT_CHARS:,} characters at most; send it in parts.")
    for index, part in enumerate(parts):
        if not isinstance(part, str):
            token_ids([part], f"content[{index}]" if isinstance(content, list) else "content", model.n_vocab)
    warnings = _warnings_field()

    return partial(_tokenize, parts, special, adds_special, with_pieces, warnings)


def read_detokenize(body: Json, model: ServedModel) -> SessionCall:
    """Read the body of a request to ``/detokenize``.

    Raises:
        ApiError: 400 with the field to blame.
    """
    fields = _fields(body)
    given = _needed(fields, "tokens")
    fields.end()
    if not isinstance(given, list):
        raise wrong_type("tokens", "an array", given)
    ids, warnings = token_ids(given, "tokens", model.n_vocab), _warnings_field()

    return partial(_detokenize, ids, warnings)


def read_template(body: Json, model: ServedModel) -> SessionCall:
    """Read the body of a request to ``/apply-template``, in the format of ``/v1/chat/completions``.

    Raises:
        ApiError: 400 with the field to blame.
    """
    request, warnings = parse_request(body, model, chat=True).request, _warnings_field()
    return partial(_prompt, request, warnings)


def read_count(body: Json, model: ServedModel) -> SessionCall:
    """Read the body of a request to Anthropic's ``/v1/messages/count_tokens``.

    Raises:
        ApiError: 400 with the field to blame.
    """
    return partial(_count, parse_messages_request(body, model).request, {})


def read_openai_count(body: Json, model: ServedModel, *, chat: bool) -> SessionCall:
    """Read the body of a token count: a request to ``/v1/chat/completions`` (``chat``) or ``/v1/responses``.

    Raises:
        ApiError: 400 with the field to blame.
    """
    asked = parse_request(body, model, chat=True) if chat else parse_response_request(body, model).asked
    return partial(_count, asked.request, {"object": _COUNT, **_warnings_field()})


# These functions run on the engine's thread, which may be in another process.


def _tokenize(
    parts: Sequence[object],
    special: bool,
    adds_special: bool,
    with_pieces: bool,
    warnings: Json,
    session: Session,
    _should_stop: object,
) -> Json:
    ids = list[int]()
    for index, part in enumerate(parts):
        if isinstance(part, str):
            ids += session.prompts.tokens_of(part, special, adds_special and not index)
        elif isinstance(part, int):
            ids.append(part)
    if not with_pieces:
        return {"tokens": ids, **warnings}
    pieces = session.prompts.bytes_of(ids)
    told = [{"id": one, "piece": _shown(piece)} for one, piece in zip(ids, pieces, strict=True)]
    return {"tokens": told, **warnings}


def _detokenize(ids: Sequence[int], warnings: Json, session: Session, _should_stop: object) -> Json:
    return {"content": b"".join(session.prompts.bytes_of(ids)).decode("utf-8", "replace"), **warnings}


def _prompt(request: ChatRequest, warnings: Json, session: Session, _should_stop: object) -> Json:
    return {"prompt": session.prompts.text_of(request), **warnings}


def _count(request: ChatRequest, beside: Json, session: Session, _should_stop: object) -> Json:
    return {**beside, "input_tokens": len(session.prompt_ids(request))}


def _fields(body: Json) -> Fields:
    fields = Fields(body)
    fields.text("model")
    return fields


def _needed(fields: Fields, name: str) -> object:
    value = fields.take(name)
    if value is None:
        raise missing(name)
    return value


def _warnings_field() -> Json:
    warnings = warnings_so_far()
    return {"warnings": list(warnings)} if warnings else {}


def _shown(piece: bytes) -> str | list[int]:
    """A token's text, or its bytes if they are not whole characters."""
    try:
        return piece.decode()
    except UnicodeDecodeError:
        return list(piece)
