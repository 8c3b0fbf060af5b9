"""Texts into tokens and back, and messages into the text of a prompt, as llama.cpp's server has them."""

from __future__ import annotations

from collections.abc import Callable

from app.server.anthropic.request import parse_messages_request
from app.server.errors import ApiError
from app.server.fields import Fields, warnings_so_far, wrong_type
from app.server.protocol import ServedModel, parse_request, token_ids
from app.server.response_request import parse_response_request
from app.server.scheduler import Ask, InferenceSession
from engine.records import ChatRequest

Json = dict[str, object]
Question = Callable[[Json, ServedModel], Ask]  # gives what the session is asked; the answer is the response's object


def read_tokenize(body: Json, model: ServedModel) -> Ask:
    """Read the body of a request to ``/tokenize``: a text, or texts and token ids in turn.

    Raises:
        ApiError: 400 with the field to blame.
    """
    fields = _fields(body)
    content, adds_special = _needed(fields, "content"), fields.flag("add_special")
    special, with_pieces = fields.flag("parse_special", default=True), fields.flag("with_pieces")
    fields.end()
    parts = content if isinstance(content, list) else [content]
    for place, part in enumerate(parts):
        if not isinstance(part, str):
            token_ids([part], f"content[{place}]" if isinstance(content, list) else "content", model.n_vocab)
    warnings = _told_warnings()

    def ask(session: InferenceSession, _should_stop: object) -> Json:
        ids = list[int]()
        for place, part in enumerate(parts):
            ids += (
                session.prompts.tokens_of(part, special, adds_special and not place)
                if isinstance(part, str)
                else [part]
            )
        if not with_pieces:
            return {"tokens": ids, **warnings}
        pieces = session.prompts.bytes_of(ids)
        told = [{"id": one, "piece": _shown(piece)} for one, piece in zip(ids, pieces, strict=True)]
        return {"tokens": told, **warnings}

    return ask


def read_detokenize(body: Json, model: ServedModel) -> Ask:
    """Read the body of a request to ``/detokenize``.

    Raises:
        ApiError: 400 with the field to blame.
    """
    fields = _fields(body)
    given = _needed(fields, "tokens")
    fields.end()
    if not isinstance(given, list):
        raise wrong_type("tokens", "an array", given)
    ids, warnings = token_ids(given, "tokens", model.n_vocab), _told_warnings()

    def ask(session: InferenceSession, _should_stop: object) -> Json:
        return {"content": b"".join(session.prompts.bytes_of(ids)).decode("utf-8", "replace"), **warnings}

    return ask


def read_template(body: Json, model: ServedModel) -> Ask:
    """Read the body of a request to ``/apply-template``, which is one to ``/v1/chat/completions``.

    Raises:
        ApiError: 400 with the field to blame.
    """
    request, warnings = parse_request(body, model, chat=True).request, _told_warnings()
    return lambda session, _should_stop: {"prompt": session.prompts.text_of(request), **warnings}


def read_count(body: Json, model: ServedModel) -> Ask:
    """Read the body of a request to Anthropic's ``/v1/messages/count_tokens``.

    Raises:
        ApiError: 400 with the field to blame.
    """
    request = parse_messages_request(body, model).request
    return lambda session, _should_stop: {"input_tokens": len(session.prompt_ids(request))}


def read_chat_count(body: Json, model: ServedModel) -> Ask:
    """Read the body of a request to ``/v1/chat/completions/input_tokens``, which is one to ``/v1/chat/completions``.

    Raises:
        ApiError: 400 with the field to blame.
    """
    return _count(parse_request(body, model, chat=True).request)


def read_response_count(body: Json, model: ServedModel) -> Ask:
    """Read the body of a request to ``/v1/responses/input_tokens``, which is one to ``/v1/responses``.

    Raises:
        ApiError: 400 with the field to blame.
    """
    return _count(parse_response_request(body, model).asked.request)


def _count(request: ChatRequest) -> Ask:
    """OpenAI's count of the tokens of a prompt."""
    warnings = _told_warnings()
    return lambda session, _should_stop: {
        "object": "response.input_tokens", "input_tokens": len(session.prompt_ids(request)), **warnings,
    }  # fmt: skip


def _fields(body: Json) -> Fields:
    fields = Fields(body)
    fields.text("model")
    return fields


def _needed(fields: Fields, name: str) -> object:
    value = fields.take(name)
    if value is None:
        raise ApiError(400, f"`{name}` is missing.", param=name, code="missing_required_parameter")
    return value


def _told_warnings() -> Json:
    warnings = warnings_so_far()
    return {"warnings": list(warnings)} if warnings else {}


def _shown(piece: bytes) -> str | list[int]:
    """A piece as text, or its bytes where they are no whole characters."""
    try:
        return piece.decode()
    except UnicodeDecodeError:
        return list(piece)
