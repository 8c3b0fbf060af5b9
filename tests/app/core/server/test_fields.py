"""A request body is limited in bytes, time and depth; invalid requests at every endpoint are refused by name."""

import asyncio
from collections.abc import Callable, Iterator

import pytest
from starlette.requests import Request
from starlette.types import Message

from app.core.domain.local_server import GONE
from app.core.server.errors import ApiError
from app.core.server.fields import MAX_DEPTH, Fields, parse_object, read_object
from tests.app.core.server.scripted_session import CHAT, HELLO, ScriptedServer
from tests.app.core.server.test_embeddings import ScriptedEmbedder


def read(*messages: Message, **headers: str) -> dict[str, object]:
    """Read a body that arrives in these messages and then stops."""
    left = list(messages)

    async def receive() -> Message:
        if not left:
            await asyncio.sleep(60)
        return left.pop(0)

    raw = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "method": "POST", "path": "/", "headers": raw}
    return asyncio.run(read_object(Request(scope, receive), max_bytes=20, timeout_s=0.2))


def part(body: bytes, *, more: bool = False) -> Message:
    return {"type": "http.request", "body": body, "more_body": more}


def test_a_body_may_come_in_parts() -> None:
    assert read(part(b'{"a"', more=True), part(b": 1}")) == {"a": 1}


@pytest.mark.parametrize(
    ("messages", "headers"),
    [((), {"content_length": "21"}), ((part(b" " * 15, more=True), part(b" " * 15, more=True)), {})],
    ids=["announced", "unannounced"],
)
def test_a_large_body_is_not_read_to_its_end(messages: tuple[Message, ...], headers: dict[str, str]) -> None:
    with pytest.raises(ApiError) as caught:
        read(*messages, **headers)
    assert caught.value.status == 413


def test_a_slow_body_is_given_up() -> None:
    with pytest.raises(ApiError) as caught:
        read(part(b"{", more=True))
    assert caught.value.status == 408


def test_a_client_that_leaves_in_the_middle_is_no_surprise() -> None:
    with pytest.raises(ApiError) as caught:
        read(part(b"{", more=True), {"type": "http.disconnect"})
    assert caught.value.status == GONE


@pytest.mark.parametrize(
    "raw",
    [b"", b"{", b"[]", b"5", b'"text"', b"\xff", b'{"a": NaN}', b'{"a": Infinity}', '{"a": 1}'.encode("utf-16"),
     b'{"a": ' + b"9" * 5000 + b"}", b"[" * 200_000, b'{"a":' * 200_000],
)  # fmt: skip
def test_what_is_no_json_object_is_refused(raw: bytes) -> None:
    with pytest.raises(ApiError) as caught:
        parse_object(raw)
    assert (caught.value.status, caught.value.code) == (400, "invalid_json")


def test_depth_has_a_limit() -> None:
    for depth, is_good in ((MAX_DEPTH, True), (MAX_DEPTH + 1, False)):
        raw = b'{"a":' * depth + b"1" + b"}" * depth
        if is_good:
            assert parse_object(raw)
        else:
            with pytest.raises(ApiError, match="deeper"):
                parse_object(raw)


def test_half_a_character_is_a_replacement_character() -> None:
    raw = b'{"a\\udc00": ["page \\ud83d", {"b": "\\ud83d\\ude00", "c": 1}]}'
    assert parse_object(raw) == {"a\ufffd": ["page \ufffd", {"b": "\U0001f600", "c": 1}]}


TEXT, RESPONSES, MESSAGES, VECTORS = "/v1/completions", "/v1/responses", "/v1/messages", "/v1/embeddings"
DEEP = "[" * 200 + "]" * 200
BAD: tuple[tuple[str, object], ...] = (
    (CHAT, b""),
    (CHAT, b'{"messages": [{"role": "user", "content": "\xff"}]}'),
    (CHAT, f'{{"messages": {DEEP}}}'.encode()),
    (CHAT, b'{"max_tokens": 1e400, "messages": [{"role": "user", "content": "a"}]}'),
    (CHAT, {"messages": [{"role": "tool", "content": {"a": 1}}]}),
    (CHAT, {**HELLO, "seed": 2**70}),
    (CHAT, {**HELLO, "grammar": "root ::= ("}),
    (f"{CHAT}/input_tokens", {"messages": "Hello"}),
    (TEXT, {"prompt": ["a", "b"]}),
    ("/completion", {"prompt": "a", "n_predict": "many"}),
    ("/infill", {"input_prefix": "a"}),
    (RESPONSES, {"input": [{"type": "function_call", "name": "a"}]}),
    (f"{RESPONSES}/input_tokens", {"input": 5}),
    (MESSAGES, {"messages": [{"role": "user", "content": [{"type": "tool_result"}]}]}),
    ("/v1/messages/count_tokens", {}),
    (VECTORS, {"input": [[True]]}),
    ("/embedding", {"content": {"a": 1}}),
    ("/tokenize", {"content": [-1]}),
    ("/detokenize", {"tokens": "a"}),
    ("/apply-template", {"messages": 5}),
    ("/api/chat", {"messages": [{"role": "user", "content": "a", "images": "AAAA"}]}),
    ("/api/generate", {"prompt": "a", "format": 5}),
    ("/api/embed", {"input": {}}),
    ("/v1/audio/speech", {"input": "a"}),
)


@pytest.fixture
def embedding() -> Iterator[ScriptedServer]:
    server = ScriptedServer(embedder=ScriptedEmbedder())
    yield server
    server.close()


def test_each_is_refused_with_a_sentence_and_the_next_is_answered(embedding: ScriptedServer) -> None:
    wrong = list[object]()
    for path, body in BAD:
        given = {"content": body} if isinstance(body, bytes) else {"json": body}
        response = embedding.client.post(path, **given)  # type: ignore[arg-type]
        told = response.json().get("error")
        message = told if isinstance(told, str) else told["message"]
        if not (400 <= response.status_code < 500 and message.endswith((".", "`"))):
            wrong.append((path, body, response.status_code, message))
    assert wrong == []
    assert not embedding.session.requests
    assert embedding.client.post(CHAT, json=HELLO).status_code == 200


@pytest.mark.parametrize(
    ("read", "value", "param"),
    [
        (lambda fields: fields.text("a"), 5, "messages[0].a"),
        (lambda fields: fields.boolean("a"), "yes", "messages[0].a"),
        (lambda fields: fields.integer("a"), True, "messages[0].a"),
        (lambda fields: fields.integer("a"), 1.5, "messages[0].a"),
        (lambda fields: fields.integer("a", 1, 3), 4, "messages[0].a"),
        (lambda fields: fields.number("a"), "warm", "messages[0].a"),
        (lambda fields: fields.number("a"), 10**400, "messages[0].a"),
        (lambda fields: fields.nested("a"), [], "messages[0].a"),
        (lambda fields: fields.objects("a"), "b", "messages[0].a"),
        (lambda fields: fields.objects("a"), [{}, "b"], "messages[0].a[1]"),
        (lambda fields: fields.objects("a", 1), [{}, {}], "messages[0].a"),
        (lambda fields: fields.required("a"), "", "messages[0].a"),
    ],
)
def test_a_value_of_another_type_or_size_is_refused_with_its_position(
    read: Callable[[Fields], object], value: object, param: str
) -> None:
    with pytest.raises(ApiError) as caught:
        read(Fields({"a": value}, "messages[0]"))
    assert (caught.value.status, caught.value.param) == (400, param)
