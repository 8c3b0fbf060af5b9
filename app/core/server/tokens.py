"""Tokenizes, detokenizes, applies chat templates and counts tokens, as llama.cpp's server does.

The readers of requests raise `ApiError` with the field to blame, as in all modules of APIs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from app.core.server.anthropic_api import parse_messages_request
from app.core.server.engine_job import SessionCall
from app.core.server.fields import Fields, as_list, invalid, missing, warnings_field
from app.core.server.protocol import CompletionRequest, ServedModel, parse_request, token_ids
from app.core.server.responses_api import parse_response_request

if TYPE_CHECKING:
    from engine.records import ChatRequest
    from engine.session.session import Session

MAX_CONTENT_CHARS = 200_000  # tokenizing so many takes up to two seconds, while other requests wait
Json = dict[str, object]
_COUNT = "response.input_tokens"  # the ``object`` field of OpenAI's token counts
BodyReader = Callable[[Json, ServedModel], SessionCall]  # returns a call whose result is the response's JSON


def read_tokenize(body: Json, model: ServedModel) -> SessionCall:
    """Read the body of a request to ``/tokenize``: a text, or a list that mixes texts and token ids."""
    fields, content = _required_field(body, "content")
    adds_special, special = fields.boolean("add_special"), fields.boolean("parse_special", default=True)
    fields.check_unknown()
    parts = content if isinstance(content, list) else [content]
    if sum(len(part) for part in parts if isinstance(part, str)) > MAX_CONTENT_CHARS:
        raise invalid("content", f"`content` may have {MAX_CONTENT_CHARS:,} characters at most; send it in parts.")
    for index, part in enumerate(parts):
        if not isinstance(part, str):
            token_ids([part], f"content[{index}]" if isinstance(content, list) else "content", model.n_vocab)
    return partial(_tokenize, parts, special, adds_special, warnings_field())


def read_detokenize(body: Json, model: ServedModel) -> SessionCall:
    """Read the body of a request to ``/detokenize``."""
    fields, given = _required_field(body, "tokens")
    fields.check_unknown()
    ids = token_ids(as_list("tokens", given), "tokens", model.n_vocab)
    return partial(_detokenize, ids, warnings_field())


def read_template(body: Json, model: ServedModel) -> SessionCall:
    """Read the body of a request to ``/apply-template``, in the format of ``/v1/chat/completions``."""
    request = parse_request(body, model, chat=True).request
    return partial(_prompt, request, warnings_field())


def read_count(
    body: Json, model: ServedModel, *, parse: Callable[[Json, ServedModel], CompletionRequest], kind: str = ""
) -> SessionCall:
    """Read the body of a token count, in the format of the requests that ``parse`` reads."""
    request = parse(body, model).request
    return partial(_count, request, {"object": kind, **warnings_field()} if kind else {})


# These functions run on the engine's thread, which may be in another process.


def _tokenize(
    parts: Sequence[object],
    special: bool,
    adds_special: bool,
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
    return {"tokens": ids, **warnings}


def _detokenize(ids: Sequence[int], warnings: Json, session: Session, _should_stop: object) -> Json:
    return {"content": b"".join(session.prompts.bytes_of(ids)).decode("utf-8", "replace"), **warnings}


def _prompt(request: ChatRequest, warnings: Json, session: Session, _should_stop: object) -> Json:
    return {"prompt": session.prompts.text_of(request), **warnings}


def _count(request: ChatRequest, fields: Json, session: Session, _should_stop: object) -> Json:
    return {**fields, "input_tokens": len(session.prompt_ids(request))}


def _required_field(body: Json, name: str) -> tuple[Fields, object]:
    """The fields of a request, and the value of a required one."""
    fields = Fields(body)
    fields.text("model")
    if (value := fields.pop(name)) is None:
        raise missing(name)
    return fields, value


READERS: dict[str, BodyReader] = {
    "/v1/chat/completions/input_tokens": partial(read_count, parse=partial(parse_request, chat=True), kind=_COUNT),
    "/v1/responses/input_tokens": partial(read_count, parse=parse_response_request, kind=_COUNT),
    "/v1/messages/count_tokens": partial(read_count, parse=parse_messages_request),
    "/v1/tokenize": read_tokenize,
    "/v1/detokenize": read_detokenize,
    "/v1/apply-template": read_template,
}
